// Convolutions whose features, or whose batch, are in groups.
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/convolution_parts.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;

constexpr int64_t kMostGroups = 64;
constexpr int64_t kFewFeatures = 8;  // of a group: each convolution would be too small

// The group of that number, of equal parts along a dimension.
HloInstruction* Group(HloInstruction* array, int64_t dimension, int64_t number, int64_t groups) {
  const int64_t size = array->shape().dimensions(dimension) / groups;
  return emit::SliceAlong(array, dimension, number * size, (number + 1) * size);
}

}  // namespace

// One for each group, put together: XLA:CPU's way to convolve groups is several times slower than
// its way to convolve.
absl::StatusOr<HloInstruction*> ConvolutionByGroups(HloInstruction* root) {
  const auto parts = PartsOf(root);
  if (!parts) return nullptr;
  const bool of_batch = parts->batch_groups > 1;
  const int64_t groups = of_batch ? parts->batch_groups : parts->feature_groups;
  if (groups < 2 || groups > kMostGroups || (of_batch && parts->feature_groups > 1) ||
      parts->output_features < kFewFeatures * groups ||
      (of_batch ? parts->batch : parts->input_features) < kFewFeatures * groups) {
    return nullptr;
  }
  const xla::HloConvolutionInstruction& whole = *parts->root;
  std::vector<int64_t> sizes = emit::SizesOf(*root);
  sizes[parts->output_feature] /= groups;
  const xla::Shape shape = xla::ShapeUtil::MakeShape(root->shape().element_type(), sizes);
  std::vector<HloInstruction*> results;
  for (int64_t number = 0; number < groups; ++number) {
    results.push_back(root->parent()->AddInstruction(HloInstruction::CreateConvolve(
        shape,
        Group(root->mutable_operand(0), of_batch ? parts->input_batch : parts->input_feature,
              number, groups),
        Group(root->mutable_operand(1), parts->kernel_output, number, groups),
        /*feature_group_count=*/1, /*batch_group_count=*/1, whole.window(),
        whole.convolution_dimension_numbers(), whole.precision_config())));
  }
  return emit::Concatenate(results, parts->output_feature);
}

}  // namespace hone::compiler
