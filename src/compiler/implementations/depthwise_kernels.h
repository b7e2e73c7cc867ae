// Depthwise convolutions as kernels of hone-loops.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_KERNELS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// A convolution of floats with a group for each feature of its input becomes a custom call
// `hone_loops` (core/native_kernel.h) that convolves depthwise (loops/task.h); narrow floats are
// multiplied in f32. Features come last in it: what lies otherwise is transposed before and
// afterwards, and features with several outputs are repeated. What is elementwise behind one that
// lies so, and needs it alone, is computed in it. So are gradients of inputs, but where the
// convolution was strided: of several kernels, one for each residue, the results would have to be
// put together, which takes longer than shifted multiply-adds.
absl::StatusOr<xla::HloInstruction*> DepthwiseKernels(xla::HloInstruction* root);
std::vector<xla::HloOpcode> DepthwiseKernelsRoots();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_KERNELS_H_
