// A module's results on generated inputs.
#ifndef HONE_COMPILER_RUN_EVALUATE_H_
#define HONE_COMPILER_RUN_EVALUATE_H_

#include "core/evaluation.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Compiled by the stock compiler, run on generated inputs and as often with rounding noise as asked
// for; also all constants of more than 16 elements. Runs are kept as those of a comparison's
// reference are. Errors: kUnsupported where it cannot be run on this machine.
StatusOr<Evaluation> Evaluate(const xla::HloModule& module, const EvaluationOptions& options);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_EVALUATE_H_
