// A folder that `hone record` wrote: the modules a script had compiled, and where its time went.
#ifndef HONE_JOBS_RECORDING_H_
#define HONE_JOBS_RECORDING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace hone::jobs {

struct RecordedModule {
  std::string file;  // path
  int64_t calls = 0;
  double seconds = 0;  // over all calls
};

struct Recording {
  std::string folder;
  std::string python;                   // the interpreter that ran the script
  std::vector<RecordedModule> modules;  // most seconds first
};

// nullopt where the path is no folder with an index.json of a recording. Errors: the index is
// broken.
StatusOr<std::optional<Recording>> ReadRecording(const std::string& path);

// A module's part of the budget, `average` seconds for each of those that are worth it: as large as
// its part of their time.
struct Share {
  std::string file;
  double seconds = 0;
};
// Modules with less than a hundredth of the time are left out; none gets less than five seconds,
// where the average is that much.
std::vector<Share> SharesOf(const Recording& recording, double average);

}  // namespace hone::jobs

#endif  // HONE_JOBS_RECORDING_H_
