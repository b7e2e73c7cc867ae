// Runs two programs on real XLA:CPU with the same generated inputs and compares every output.
#ifndef HONE_COMPILER_RUN_COMPARE_H_
#define HONE_COMPILER_RUN_COMPARE_H_

#include "core/comparison.h"
#include "core/compile_plan.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// `a` is the reference. Neither module is changed. Never aborts on purpose: what cannot be compiled
// or run is kCannotTell with a reason (custom calls that are missing are named). XLA itself may
// abort: the worker's pool reports that. With a plan for either, both are compiled to the very code
// that the plan makes; else LLVM's dearer passes are left out.
ComparisonReport Compare(const xla::HloModule& a, const xla::HloModule& b,
                         const CompareOptions& options, const CompilePlan& plan_a = {},
                         const CompilePlan& plan_b = {});

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_COMPARE_H_
