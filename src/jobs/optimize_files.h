// Several programs optimised, each with its result, recipe and page written: `hone optimize`.
#ifndef HONE_JOBS_OPTIMIZE_FILES_H_
#define HONE_JOBS_OPTIMIZE_FILES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/models.h"
#include "jobs/optimize.h"
#include "jobs/quantities.h"
#include "jobs/workers.h"
#include "search/searcher.h"

namespace hone::jobs {

// One file's outcome: a result or an error.
struct OptimizedFile {
  std::string file;
  std::optional<Error> error;
  ProgramInfo program;
  OptimizedProgram optimized;
  double seconds = 0;
  std::string output;  // where these were written; empty where they were not
  std::string recipe;
  std::string report;
  std::string withheld;  // why it was not written though asked for
};

struct OptimizeFilesOptions {
  std::vector<std::string> files;  // programs, folders, URIs
  std::string objective = "op_count";
  std::string actions = "simplify";
  std::string search{Searchers().front().name};
  ModelOptions models;
  Budget budget{30, std::numeric_limits<int64_t>::max()};
  uint64_t seed = 1;
  GivenInputs inputs;
  double verify_seconds = 120;
  bool verify = true;
  bool allow_unverified = false;
  std::string device;  // as device::ParseDeviceName takes it; "" measures nothing
  double device_seconds = 10;
  // A file of each; for several programs a folder. "" writes none.
  std::string output;
  std::string recipe;
  std::string report;
  std::string store;  // a file, or ""
  // Called before the first file, with all of them, and after each. May be null.
  std::function<void(const std::vector<std::string>&)> begin;
  std::function<void(const OptimizedFile&)> done;
};

struct OptimizedFiles {
  std::vector<OptimizedFile> rows;  // as many as were optimised before an interrupt
  bool one = false;                 // it was about one program
  int better = 0;                   // than XLA's own order
  int equal = 0;
  int worse = 0;
  int failed = 0;
  bool withheld = false;                // something was not written though asked for
  std::optional<double> geomean_ratio;  // nullopt where there is no ratio
  // What they were optimised with.
  OptimizeProgramOptions job;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<device::RemoteDevice> device;  // null where none was named
};

// Where there is one program, its error is the job's.
FileOr<OptimizedFiles> OptimizeFiles(const OptimizeFilesOptions& options,
                                     const WorkerOptions& workers, Events& events);

// The answer of `hone optimize --json`; `timing` adds that of the workers.
Json ToJson(const OptimizedFiles& optimized, bool timing);

}  // namespace hone::jobs

#endif  // HONE_JOBS_OPTIMIZE_FILES_H_
