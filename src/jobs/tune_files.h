// Several programs tuned, or the modules of a recording, each with its plan, the program under it
// and its page written: `hone tune`.
#ifndef HONE_JOBS_TUNE_FILES_H_
#define HONE_JOBS_TUNE_FILES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "jobs/cluster.h"
#include "jobs/quantities.h"
#include "jobs/tune.h"
#include "jobs/workers.h"
#include "search/choices/choices.h"

namespace hone::jobs {

// One file's outcome: a result or an error.
struct TunedFile {
  std::string file;
  std::optional<Error> error;
  TunedProgram tuned;
  std::string plan_file;  // where these were written; empty where they were not
  std::string output;
  std::string report;
};

struct TuneFilesOptions {
  std::vector<std::string> files;  // programs, folders, URIs; or a recording
  ClusterOptions cluster{ClusterOptions::Use::kMeasure};
  std::string stages{kDefaultStages};
  std::string device;  // as device::ParseDeviceName takes it; "": workers measure
  std::string search{choices::Choosers().front().name};
  std::string mode = "joint";  // or "sequential"
  Budget budget{600, std::numeric_limits<int64_t>::max()};
  std::string store;  // a file, or ""
  bool transfer = true;
  std::string cost_model = "none";  // or "roofline", or a file of `hone costmodel train`
  bool fast_math = false;
  bool free_entry = false;
  bool verify = true;
  bool tasks = false;
  GivenInputs inputs;
  int hops = 5;
  uint64_t seed = 1;
  std::string
      policy;  // a file of `hone store learn`, "none", or "" for the one that comes with hone
  // A file of each; for several programs a folder. "" writes none.
  std::string plan;
  std::string output;
  std::string report;
  bool jax_says_json = false;  // what the JAX of a recording is asked for
  // Called before the first file, with all of them, and after each. May be null.
  std::function<void(const std::vector<std::string>&)> begin;
  std::function<void(const TunedFile&)> done;
};

struct TunedFiles {
  std::vector<TunedFile> rows;  // of one program, or as many as were tuned before an interrupt
  bool one = false;             // it was about one program, and no recording
  int tuned = 0;
  int stock = 0;
  int failed = 0;
  double mean_speedup = 1;
  double most_speedup = 1;
  // Of a recording, where some were kept in a store: what its script's own JAX makes of them.
  struct InJax {
    std::string said;
    bool fine = false;
    std::optional<FileError> error;  // why it could not be asked
  };
  std::optional<InJax> in_jax;
};

// Where there is one program, its error is the job's. Once interrupted, what is tuned.
FileOr<TunedFiles> TuneFiles(const TuneFilesOptions& options, const WorkerOptions& workers,
                             Events& events);

// The answer of `hone tune --json`, which JAX was asked for too.
Json ToJson(const TunedFiles& tuned);

}  // namespace hone::jobs

#endif  // HONE_JOBS_TUNE_FILES_H_
