// Depthwise convolutions as kernels of hone-loops.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_KERNELS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// A convolution of floats with a group for each feature of its input becomes a custom call
// `hone_loops` (core/native_kernel.h) that convolves depthwise (loops/task.h), one for each residue
// where the input is dilated; narrow floats are multiplied in f32. Features come last in it: what
// lies otherwise is transposed before and afterwards, and features with several outputs are
// repeated. What is elementwise behind one that is a single kernel and lies so, and needs it alone,
// is computed in it. Gradients of inputs are such convolutions, those of kernels are not.
absl::StatusOr<xla::HloInstruction*> DepthwiseKernels(xla::HloInstruction* root);
std::vector<xla::HloOpcode> DepthwiseKernelsRoots();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_KERNELS_H_
