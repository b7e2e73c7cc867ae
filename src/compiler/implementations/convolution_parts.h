// What a convolution does, in plain vectors, and the pieces that its other implementations share.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_PARTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace hone::compiler {

// More terms than this make a fusion that takes long to compile.
inline constexpr int64_t kMostTerms = 64;

// One per spatial dimension, as in xla.Window and xla.ConvolutionDimensionNumbers.
struct ConvolutionParts {
  const xla::HloConvolutionInstruction* root = nullptr;
  xla::HloInstruction* input = nullptr;
  xla::HloInstruction* kernel = nullptr;
  xla::PrimitiveType sum_type;
  std::vector<int64_t> taps, strides, low, high, base_dilation, window_dilation, outputs;
  std::vector<bool> reversed;
  int64_t feature_groups = 1, batch_groups = 1;
  int64_t batch = 0, input_features = 0, output_features = 0;          // sizes of those dimensions
  std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;  // dimension numbers
  int64_t input_batch = 0, input_feature = 0, kernel_input = 0, kernel_output = 0, output_batch = 0,
          output_feature = 0;

  int64_t spatial() const { return static_cast<int64_t>(taps.size()); }
  int64_t tap_count() const;
  int64_t output_count() const;  // spatial positions
  // Of the kernel, for the tap at `offset` windowwise.
  int64_t KernelIndex(int64_t dimension, int64_t offset) const {
    return reversed[dimension] ? taps[dimension] - 1 - offset : offset;
  }
};

// Nothing for what is no convolution of real numbers, or is not free to be replaced.
std::optional<ConvolutionParts> PartsOf(xla::HloInstruction* root);

// Every index below `bounds`, last dimension fastest.
std::vector<std::vector<int64_t>> AllIndices(const std::vector<int64_t>& bounds);

// The kernel at one tap, as [input features, output features] in the sum type.
xla::HloInstruction* KernelTap(const ConvolutionParts& parts, const std::vector<int64_t>& tap);

// The input as [batch, spatial…, features] in the sum type.
xla::HloInstruction* PlainInput(const ConvolutionParts& parts);
// The same, padded and base-dilated as the window says.
xla::HloInstruction* PaddedInput(const ConvolutionParts& parts);

// A result [batch, spatial…, features] in the sum type, in the order and type of the convolution's.
xla::HloInstruction* InOutputOrder(const ConvolutionParts& parts, xla::HloInstruction* result);

// The dimensions `first`, spatial ones, `last`: of [N,S...,C], [K...,C,F], [N,O...,F].
std::vector<int64_t> Order(const std::vector<int64_t>& first, const std::vector<int64_t>& spatial,
                           const std::vector<int64_t>& last);

// Takes the kernel as it is before it is reversed.
void LookThroughReverse(ConvolutionParts& parts);
// The same before it is transposed.
void LookThroughTranspose(ConvolutionParts& parts);
// An operand, which is a transpose, as it is before that, with the numbers of its dimensions.
void BeforeTranspose(xla::HloInstruction*& operand, const std::vector<int64_t*>& numbers,
                     std::vector<int64_t>& spatial);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_CONVOLUTION_PARTS_H_
