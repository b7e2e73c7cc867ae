// Depthwise convolutions (each output feature sees one input feature) and their gradients as
// multiply-adds of shifted arrays. XLA:CPU computes them with a scalar loop.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_CONVOLUTION_H_
#define HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_CONVOLUTION_H_

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Forward and input gradient: the sum over the taps of a slice of the padded input times the tap's
// weights. Where the input is base-dilated (the gradient of a strided one), each residue of the
// output positions modulo the dilation has its own few taps, and the residues are interleaved.
absl::StatusOr<xla::HloInstruction*> DepthwiseShifts(xla::HloInstruction* root);

// Kernel gradient (batch groups of one): for each output position the sum of the products of a
// slice of the input with the whole "kernel", which is the gradient of the output.
absl::StatusOr<xla::HloInstruction*> DepthwiseKernelGradientShifts(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_DEPTHWISE_CONVOLUTION_H_
