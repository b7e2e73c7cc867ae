// A user's Python script with hone's hook in its Python: what it has JAX compile is recorded, or
// tuned modules are put in: `hone record` and `hone with`. Each becomes the command, and returns
// only what kept it from that.
#ifndef HONE_JOBS_PYTHON_SCRIPT_H_
#define HONE_JOBS_PYTHON_SCRIPT_H_

#include <string>
#include <vector>

#include "jobs/events.h"

namespace hone::jobs {

// `folder` is made where it is not there.
FileError BecomeRecorded(const std::string& folder, const std::vector<std::string>& command);

// `keep_memory`: the script keeps a run's memory for the next one, in huge pages, unless
// $GLIBC_TUNABLES says otherwise.
FileError BecomeTuned(const std::string& store, bool keep_memory,
                      const std::vector<std::string>& command);

}  // namespace hone::jobs

#endif  // HONE_JOBS_PYTHON_SCRIPT_H_
