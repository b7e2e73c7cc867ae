// How long a module takes to run on XLA:CPU.
#ifndef HONE_COMPILER_RUN_RUN_TIME_H_
#define HONE_COMPILER_RUN_RUN_TIME_H_

#include "compiler/run/shared_inputs.h"
#include "core/result.h"
#include "core/run_time.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Compiles as the stock compiler does and runs.
// Errors: kUnsupported for what cannot run here, with XLA's reason.
StatusOr<RunTimeReport> MeasureRunTime(const xla::HloModule& module, const RunTimeOptions& options,
                                       const TimedInputs& timed);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_RUN_TIME_H_
