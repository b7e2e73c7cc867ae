// What the commands about tuned plans share.
#ifndef HONE_CLI_TUNED_PROGRAM_H_
#define HONE_CLI_TUNED_PROGRAM_H_

#include <memory>
#include <string>

#include "cli/common.h"
#include "tune/pool_evaluator.h"
#include "tune/tune_plan.h"

namespace hone::cli {

// A program and workers of its own. What went wrong is told already where there is an exit code.
struct OpenedProgram {
  std::unique_ptr<tune::PoolEvaluator> evaluator;
  int exit_code = kFine;
};
OpenedProgram OpenProgram(const CommonOptions& options, const std::string& file, uint64_t seed);

// Of a file; the empty plan where no file is named.
StatusOr<tune::TunePlan> ReadPlan(const std::string& file);

// The optimised module under the plan, as HLO text.
StatusOr<std::string> OptimisedText(tune::PoolEvaluator& evaluator, const tune::TunePlan& plan);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNED_PROGRAM_H_
