// Where the time of a run goes, kernel by kernel: XLA's own trace.
#ifndef HONE_COMPILER_RUN_PROFILE_H_
#define HONE_COMPILER_RUN_PROFILE_H_

#include <vector>

#include "compiler/run/shared_inputs.h"
#include "core/compile_plan.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Compiles under the plan and runs for about `seconds`, at least twice. Dearest first. Kernels that
// run on several threads count the time until the last is done. Errors: kUnsupported where it
// cannot run here, or nothing was traced.
StatusOr<std::vector<KernelTime>> ProfileKernels(const xla::HloModule& module,
                                                 const CompilePlan& plan, double seconds,
                                                 const TimedInputs& timed);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_PROFILE_H_
