// Tuning and the store: what is taken from it at the beginning and written into it on the way.
#ifndef HONE_TUNE_RECORDS_H_
#define HONE_TUNE_RECORDS_H_

#include "store/store.h"
#include "tune/tune_program.h"

namespace hone::tune {

// Takes what the store knows into the options: the program's own measurements and its best plan, to
// go on from there, and with `transfer` what other programs have taught. Measurements will be added
// to the store as they come; it must outlive the options. Adds the program.
Status BeginRecords(store::Store& store, const store::Place& place,
                    const store::ProgramRow& program, bool transfer, TuneOptions& options);

// Adds the outcome, the sites and, from a plan that is kept, its lessons.
Status EndRecords(store::Store& store, const store::Place& place, const store::ProgramRow& program,
                  const TuneResult& result);

}  // namespace hone::tune

#endif  // HONE_TUNE_RECORDS_H_
