// The machine and the versions that a measurement is valid for.
#ifndef HONE_JOBS_PLACE_H_
#define HONE_JOBS_PLACE_H_

#include "store/store.h"
#include "wire/pool.h"

namespace hone::jobs {

// This machine, or the GPU that is compiled for, with these versions.
store::Place PlaceOf(const Pool& pool);

}  // namespace hone::jobs

#endif  // HONE_JOBS_PLACE_H_
