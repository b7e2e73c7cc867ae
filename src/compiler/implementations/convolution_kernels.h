// Convolutions as kernels of hone-loops.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_KERNELS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// A convolution of floats without groups, of enough features for vectors, or of rows of windows
// that are runs of memory, becomes a custom call `hone_loops` (core/native_kernel.h) that convolves
// (loops/task.h), one for each residue where the input is dilated; narrow floats are multiplied in
// f32. Gradients of inputs and of kernels are such convolutions, too. Images with features first
// become images with features last (features_last.h). What lies so that nothing of it could be read
// as vectors is transposed first. What is elementwise behind one that is a single
// kernel, and needs it alone, is computed in it, of f32 and f64.
absl::StatusOr<xla::HloInstruction*> ConvolutionKernels(xla::HloInstruction* root);
std::vector<xla::HloOpcode> ConvolutionKernelsRoots();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_KERNELS_H_
