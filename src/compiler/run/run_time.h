// How long a module takes to run on XLA:CPU.
#ifndef HONE_COMPILER_RUN_RUN_TIME_H_
#define HONE_COMPILER_RUN_RUN_TIME_H_

#include "core/result.h"
#include "core/run_time.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Compiles as the stock compiler does and runs on generated inputs (inputs.h, the first kind).
// Errors: kUnsupported for what cannot run here, with XLA's reason.
StatusOr<RunTimeReport> MeasureRunTime(const xla::HloModule& module, const RunTimeOptions& options);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_RUN_TIME_H_
