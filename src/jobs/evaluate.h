// A search method on many programs and seeds, against XLA's own order: `hone eval`.
#ifndef HONE_JOBS_EVALUATE_H_
#define HONE_JOBS_EVALUATE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/json.h"
#include "report/evaluation.h"
#include "tune/optimize.h"
#include "wire/pool.h"

namespace hone::jobs {

struct EvaluateOptions {
  std::vector<std::string> files;
  ReadProgram read;
  std::string method;      // what the results are called
  OptimizeOptions search;  // of each run, but for its seed
  uint64_t seed = 1;       // the first
  int seeds = 3;
  bool run_time = false;    // compile and run each result by the stock compiler
  double run_seconds = 60;  // for each of these runs
  // Called after each run; an error ends the job. May be null.
  std::function<Status(const report::Evaluation&)> done;
  std::function<void(const FileError&)> failed;  // likewise
};

struct EvaluateResult {
  std::vector<report::Evaluation> rows;
  std::vector<FileError> errors;  // a program is given up at its first
};

// The name of a program in results: the last two folders and the file, wherever the data set lies.
std::string ProgramName(const std::string& file);

// Every program is loaded anew for every seed: what a worker remembers would make later ones
// faster. Once interrupted, the rows that are whole.
StatusOr<EvaluateResult> Evaluate(Pool& pool, const EvaluateOptions& options, Events& events);

Json ToJson(const EvaluateResult& result, const std::string& method);

}  // namespace hone::jobs

#endif  // HONE_JOBS_EVALUATE_H_
