// Convolutions as matrix products.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_DOTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_DOTS_H_

#include <string>

#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

// One tap in all, any number of groups: a (batched) product over the features.
class PointwiseDot : public InstructionRule {
 public:
  std::string name() const override { return "pointwise_dot"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// For each tap a product over the features of the shifted input, batched over the groups; summed.
class ConvolutionShiftedDots : public InstructionRule {
 public:
  std::string name() const override { return "convolution_shifted_dots"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// The shifted inputs side by side (im2col), one product.
class ConvolutionPatchesDot : public InstructionRule {
 public:
  std::string name() const override { return "convolution_patches_dot"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// Few output positions and a large window, as in the gradient of a kernel: for each position a
// product over features and taps.
class ConvolutionOutputDots : public InstructionRule {
 public:
  std::string name() const override { return "convolution_output_dots"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// Narrow floats converted to f32 and back.
class ConvolutionInF32 : public InstructionRule {
 public:
  std::string name() const override { return "convolution_in_f32"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_DOTS_H_
