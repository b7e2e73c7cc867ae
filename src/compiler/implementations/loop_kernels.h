// Reductions, with what leads to them and what follows, as kernels of hone-loops: a
// softmax, a layer norm, a mean of squares are one pass over memory each, where XLA:CPU makes
// several of them, the sums one element after another.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_LOOP_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_LOOP_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// The largest neighbourhoods of elementwise operations, broadcasts and sums or maxima over the last
// dimensions, or over the first ones where nothing that follows is as large as what was reduced, of
// f32 or f64, that one instruction alone is needed of, become custom calls `hone_loops`
// (core/native_kernel.h). The call tells what it computes as a task of hone-loops (loops/task.h),
// in which sizes of 1 are left out; the machine code is made elsewhere. Arrays are passed
// row-major: where they lie otherwise, XLA copies them.
absl::StatusOr<xla::HloInstruction*> LoopKernels(xla::HloInstruction* root);
std::vector<xla::HloOpcode> LoopKernelsRoots();

// The tasks of the module's calls whose kernels this process lacks, each once.
// Errors: a call that does not tell its task, or has another kernel's name.
absl::StatusOr<std::vector<std::string>> MissingKernels(const xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_LOOP_KERNELS_H_
