// Convolutions as matrix products.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_DOTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_DOTS_H_

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// One tap in all, any number of groups: a (batched) product over the features.
absl::StatusOr<xla::HloInstruction*> PointwiseDot(xla::HloInstruction* root);

// For each tap a product over the features of the shifted input, batched over the groups; summed.
absl::StatusOr<xla::HloInstruction*> ConvolutionShiftedDots(xla::HloInstruction* root);

// The shifted inputs side by side (im2col), one product.
absl::StatusOr<xla::HloInstruction*> ConvolutionPatchesDot(xla::HloInstruction* root);

// Few output positions and a large window, as in the gradient of a kernel: for each position a
// product over features and taps.
absl::StatusOr<xla::HloInstruction*> ConvolutionOutputDots(xla::HloInstruction* root);

// Narrow floats converted to f32 and back.
absl::StatusOr<xla::HloInstruction*> ConvolutionInF32(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_DOTS_H_
