// What a module computes of generated inputs.
#ifndef HONE_COMPILER_RUN_EVALUATE_H_
#define HONE_COMPILER_RUN_EVALUATE_H_

#include <cstdint>

#include "core/evaluation.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Compiled by the stock compiler, run on inputs of kind `seed` % 3 (inputs.h) and once more on the
// same with rounding noise; also all constants of more than 16 elements.
// Errors: kUnsupported where it cannot be run on this machine.
StatusOr<Evaluation> Evaluate(const xla::HloModule& module, uint64_t seed);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_EVALUATE_H_
