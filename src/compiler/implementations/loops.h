// Loops: short ones unrolled, those of small operations as one kernel.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A while of a known small number of trips as its body, that many times: what the trips have in
// common can then be shared and fused across them.
absl::StatusOr<xla::HloInstruction*> UnrollShortLoop(xla::HloInstruction* root);

// A while of small operations as one kernel: a call that XLA:CPU compiles as a whole
// (`xla_cpu_small_call`, xla/service/cpu/thunk_emitter.cc), so that no trip starts a kernel for
// each operation. XLA does so itself where few bytes pass through the loop
// (xla/service/cpu/small_while_loop_hoisting_pass.cc); here the number of bytes does not count. Not
// where the loop has what such a kernel may not have, or products that are better off in a library.
absl::StatusOr<xla::HloInstruction*> LoopOneKernel(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_
