// The peer of the environments: the same passes on the same modules and nothing else.
#ifndef HONE_COMPILER_RAW_LOOP_H_
#define HONE_COMPILER_RAW_LOOP_H_

#include "core/raw_loop.h"
#include "wire/heartbeat.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// After a pass that fails, and may leave the module half-changed, the passes before it are run again
// on another copy. The heartbeat goes
// on before every pass, so that a pass that hangs is seen.
RawLoopResult RunRawLoop(const xla::HloModule& program, const RawLoopOptions& options,
                         wire::Heartbeat& heartbeat);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RAW_LOOP_H_
