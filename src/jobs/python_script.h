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

// `huge_pages`: the script's memory is asked for in large pages, unless $GLIBC_TUNABLES says of
// them.
FileError BecomeTuned(const std::string& store, bool huge_pages,
                      const std::vector<std::string>& command);

}  // namespace hone::jobs

#endif  // HONE_JOBS_PYTHON_SCRIPT_H_
