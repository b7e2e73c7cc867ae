// A search method on many programs and seeds, against XLA's own order: `hone eval`.
#ifndef HONE_JOBS_EVALUATE_H_
#define HONE_JOBS_EVALUATE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/input.h"
#include "jobs/json.h"
#include "jobs/models.h"
#include "jobs/quantities.h"
#include "jobs/workers.h"
#include "report/evaluation.h"

namespace hone::jobs {

struct EvaluateOptions {
  ProgramSet programs;
  std::string search;  // a searcher; "": local, or policy_greedy where a policy is given
  ModelOptions models;
  std::string method;  // what the results are called; "": the searcher's name
  std::string objective = "op_count";
  std::string actions = "simplify";
  Budget budget{30, std::numeric_limits<int64_t>::max()};
  uint64_t seed = 1;  // the first
  int seeds = 3;
  size_t longest = 256;  // passes in a sequence, at most
  bool from_default = false;
  bool verify = false;
  bool run_time = false;       // compile and run each result by the stock compiler
  double verify_seconds = 60;  // for each of these, too
  std::string output;          // a file that results are added to; "" is none
  std::string report;
  // Called before the first run, with the files, and after each. May be null.
  std::function<void(const std::vector<std::string>&)> begin;
  std::function<void(const report::Evaluation&)> done;
  std::function<void(const FileError&)> failed;
};

struct EvaluateResult {
  std::string method;
  std::vector<report::Evaluation> rows;
  std::vector<FileError> errors;  // a program is given up at its first
};

// The name of a program in results: the last two folders and the file, wherever the data set lies.
std::string ProgramName(const std::string& file);

// Every program is loaded anew for every seed: what a worker remembers would make later ones
// faster. Once interrupted, the rows that are whole.
FileOr<EvaluateResult> Evaluate(const EvaluateOptions& options, const WorkerOptions& workers,
                                Events& events);

Json ToJson(const EvaluateResult& result);

}  // namespace hone::jobs

#endif  // HONE_JOBS_EVALUATE_H_
