// The stock compiler under a plan.
#ifndef HONE_COMPILER_RUN_COMPILE_H_
#define HONE_COMPILER_RUN_COMPILE_H_

#include "core/compile_plan.h"
#include "core/fingerprint.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Compiles as the stock compiler does, but for what the plan decides otherwise. Errors: kUnsupported,
// with XLA's reason; kInvalidInput for the plan's flags.
StatusOr<Compiled> CompileUnderPlan(const xla::HloModule& module, const CompilePlan& plan,
                                    const CompileOptions& options);

// Of an executable: its optimised module, and what does not show there (CompileDecider::hidden, flags).
Fingerprint ExecutableFingerprint(const xla::HloModule& optimised, uint64_t hidden,
                                  const CompilePlan& plan);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_COMPILE_H_
