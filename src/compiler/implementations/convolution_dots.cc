// Convolutions as matrix products.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/convolution_parts.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// [batch, outputs…, features]: what the tap sees of the padded input.
HloInstruction* TapInput(const ConvolutionParts& parts, HloInstruction* padded,
                         const std::vector<int64_t>& tap) {
  std::vector<int64_t> starts = {0}, limits = {parts.batch}, strides = {1};
  for (int64_t k = 0; k < parts.spatial(); ++k) {
    starts.push_back(tap[k] * parts.window_dilation[k]);
    strides.push_back(parts.strides[k]);
    limits.push_back(starts.back() + (parts.outputs[k] - 1) * parts.strides[k] + 1);
  }
  starts.push_back(0);
  limits.push_back(parts.input_features);
  strides.push_back(1);
  return emit::Slice(padded, starts, limits, strides);
}

// `x` [batch, outputs…, features] times `weights` [features of a group, output features].
HloInstruction* GroupedProduct(const ConvolutionParts& parts, HloInstruction* x,
                               HloInstruction* weights) {
  const int64_t last = parts.spatial() + 1, groups = parts.feature_groups;
  const xla::PrecisionConfig& precision = parts.root->precision_config();
  if (groups == 1) {
    return emit::Dot(x, weights, {}, {}, {last}, {0}, parts.sum_type, precision);
  }
  std::vector<int64_t> split = emit::SizesOf(*x);
  split.back() = groups;
  split.push_back(parts.input_features / groups);
  const int64_t inputs = weights->shape().dimensions(0);
  HloInstruction* product =
      emit::Dot(emit::Reshape(x, split),
                emit::Reshape(weights, {inputs, groups, parts.output_features / groups}), {last},
                {1}, {last + 1}, {0}, parts.sum_type, precision);
  // [groups, batch, outputs…, features of a group] -> [batch, outputs…, features]
  std::vector<int64_t> order, sizes = {parts.batch};
  for (int64_t d = 1; d <= last; ++d) order.push_back(d);
  order.push_back(0);
  order.push_back(last + 1);
  sizes.insert(sizes.end(), parts.outputs.begin(), parts.outputs.end());
  sizes.push_back(parts.output_features);
  return emit::Reshape(emit::Transpose(product, order), sizes);
}

HloInstruction* ShiftedDots(const ConvolutionParts& parts) {
  HloInstruction* padded = PaddedInput(parts);
  HloInstruction* sum = nullptr;
  for (const std::vector<int64_t>& tap : AllIndices(parts.taps)) {
    HloInstruction* term =
        GroupedProduct(parts, TapInput(parts, padded, tap), KernelTap(parts, tap));
    sum = emit::AddTo(sum, term);
  }
  return InOutputOrder(parts, sum);
}

// Where a window meets the input along a dimension: elements `input`, `input` + `input_step`, … and
// taps `tap`, `tap` + `tap_step`, …
struct Meeting {
  int64_t count = 0;
  int64_t input = 0, input_step = 1;
  int64_t tap = 0, tap_step = 1;
};

int64_t CeilDivide(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

// Of the window at an output position with an input that is padded already: all taps, so that every
// product has the same kernel.
Meeting PaddedMeeting(const ConvolutionParts& parts, int64_t k, int64_t output) {
  return {parts.taps[k], output * parts.strides[k], parts.window_dilation[k], 0, 1};
}

// With the input as it is: nothing is multiplied by padding, nor by the zeros of its dilation. The
// window is not dilated.
Meeting DilatedMeeting(const ConvolutionParts& parts, int64_t k, int64_t output) {
  const int64_t inputs = parts.input->shape().dimensions(parts.input_spatial[k]);
  // Element i lies at low + i * base_dilation, tap t at output * stride + t.
  const int64_t first = parts.low[k] - output * parts.strides[k];
  Meeting at;
  at.tap_step = parts.base_dilation[k];
  const int64_t input = std::max<int64_t>(0, CeilDivide(-first, at.tap_step));
  const int64_t tap = first + input * at.tap_step;
  if (tap >= parts.taps[k] || input >= inputs) return at;
  at.input = input;
  at.tap = tap;
  at.count = std::min((parts.taps[k] - 1 - tap) / at.tap_step, inputs - 1 - input) + 1;
  return at;
}

// The most features that are multiplied with all of one another, though only those of a group
// count.
constexpr int64_t kMostOfBlock = 64;

// Of [blocks, groups, features, groups, others] what lies within a group, as [features, all
// others].
HloInstruction* WithinGroups(HloInstruction* products) {
  const std::vector<int64_t> sizes = emit::SizesOf(*products);
  HloInstruction* const zero = emit::Zero(products->parent(), products->shape().element_type());
  HloInstruction* const same = emit::Compare(xla::ComparisonDirection::kEq,
                                             emit::Iota(products->parent(), xla::S32, sizes, 1),
                                             emit::Iota(products->parent(), xla::S32, sizes, 3));
  HloInstruction* const within = emit::Reduce(
      emit::Select(same, products, emit::Broadcast(zero, sizes, {})), zero, {3}, HloOpcode::kAdd);
  return emit::Reshape(emit::Transpose(within, {2, 0, 1, 3}),
                       {sizes[2], sizes[0] * sizes[1] * sizes[4]});
}

// The gradient of a grouped convolution's kernel: for each output position a product over batch and
// taps, for several groups at once, of which what lies within a group is taken.
HloInstruction* GroupedOutputDots(const ConvolutionParts& parts) {
  const int64_t groups = parts.batch_groups, spatial = parts.spatial();
  const int64_t inputs = parts.batch / groups, outputs = parts.output_features / groups;
  int64_t of_block = 1;
  for (int64_t some = 2; some <= groups && some * std::max(inputs, outputs) <= kMostOfBlock;
       ++some) {
    if (groups % some == 0) of_block = some;
  }
  const int64_t blocks = groups / of_block;
  // Both as [summed features, spatial…, blocks, features of a block].
  const auto in_order = [&](HloInstruction* array, const std::vector<int64_t>& order,
                            int64_t features) {
    array = emit::Transpose(emit::Convert(array, parts.sum_type), order);
    std::vector<int64_t> split = emit::SizesOf(*array);
    split.back() = blocks;
    split.push_back(of_block * features);
    return emit::Reshape(array, split);
  };
  HloInstruction* const kernel =
      in_order(parts.kernel,
               Order({parts.kernel_input}, parts.kernel_spatial, {parts.kernel_output}), outputs);
  HloInstruction* x = in_order(
      parts.input, Order({parts.input_feature}, parts.input_spatial, {parts.input_batch}), inputs);
  const int64_t rank = spatial + 3;
  std::vector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0), summed = {0};
  for (int64_t k = 0; k < spatial; ++k) {
    low[k + 1] = parts.low[k];
    high[k + 1] = parts.high[k];
    summed.push_back(k + 1);
  }
  x = emit::Pad(x, emit::Zero(x->parent(), parts.sum_type), low, high, interior);
  std::vector<HloInstruction*> rows;
  for (const std::vector<int64_t>& output : AllIndices(parts.outputs)) {
    std::vector<int64_t> starts(rank, 0), limits = emit::SizesOf(*x), strides(rank, 1);
    for (int64_t k = 0; k < spatial; ++k) {
      const Meeting at = PaddedMeeting(parts, k, output[k]);
      starts[k + 1] = at.input;
      strides[k + 1] = at.input_step;
      limits[k + 1] = at.input + (at.count - 1) * at.input_step + 1;
    }
    HloInstruction* const product =
        emit::Dot(emit::Slice(x, starts, limits, strides), kernel, {spatial + 1}, {spatial + 1},
                  summed, summed, parts.sum_type, parts.root->precision_config());
    rows.push_back(emit::Reshape(
        WithinGroups(emit::Reshape(product, {blocks, of_block, inputs, of_block, outputs})),
        {inputs, 1, parts.output_features}));
  }
  std::vector<int64_t> stacked = {inputs};
  stacked.insert(stacked.end(), parts.outputs.begin(), parts.outputs.end());
  stacked.push_back(parts.output_features);
  return InOutputOrder(parts, emit::Reshape(emit::Concatenate(rows, 1), stacked));
}

}  // namespace

// One tap in all, any number of groups: a (batched) product over the features.
absl::StatusOr<HloInstruction*> PointwiseDot(HloInstruction* root) {
  const auto parts = PartsOf(root);
  if (!parts || parts->batch_groups != 1 || parts->tap_count() != 1) return nullptr;
  // Dilated zeros would be multiplied like everything else.
  if (emit::Product(parts->base_dilation) != 1) return nullptr;
  return ShiftedDots(*parts);
}

// For each tap a product over the features of the shifted input, batched over the groups; summed.
absl::StatusOr<HloInstruction*> ConvolutionShiftedDots(HloInstruction* root) {
  const auto parts = PartsOf(root);
  if (!parts || parts->batch_groups != 1 || parts->tap_count() < 2 ||
      parts->tap_count() > kMostTerms || parts->feature_groups == parts->input_features) {
    return nullptr;
  }
  return ShiftedDots(*parts);
}

// The shifted inputs side by side (im2col), one product.
absl::StatusOr<HloInstruction*> ConvolutionPatchesDot(HloInstruction* root) {
  const auto parts = PartsOf(root);
  if (!parts || parts->batch_groups != 1 || parts->feature_groups != 1 || parts->tap_count() < 2 ||
      parts->tap_count() > kMostTerms) {
    return nullptr;
  }
  HloInstruction* padded = PaddedInput(*parts);
  std::vector<HloInstruction*> patches, weights;
  for (const std::vector<int64_t>& tap : AllIndices(parts->taps)) {
    patches.push_back(TapInput(*parts, padded, tap));
    weights.push_back(KernelTap(*parts, tap));
  }
  HloInstruction* product =
      emit::Dot(emit::Concatenate(patches, parts->spatial() + 1), emit::Concatenate(weights, 0), {},
                {}, {parts->spatial() + 1}, {0}, parts->sum_type, parts->root->precision_config());
  return InOutputOrder(*parts, product);
}

// Few output positions and a large window, as in the gradient of a kernel: for each position a
// product over features and taps.
absl::StatusOr<HloInstruction*> ConvolutionOutputDots(HloInstruction* root) {
  const auto parts = PartsOf(root);
  if (!parts || parts->feature_groups != 1 || parts->output_count() > kMostTerms ||
      parts->tap_count() < 2 * parts->output_count()) {
    return nullptr;
  }
  const bool dilated = emit::Product(parts->base_dilation) != 1;
  for (int64_t k = 0; k < parts->spatial(); ++k) {
    if (parts->reversed[k] || (dilated && parts->window_dilation[k] != 1)) return nullptr;
  }
  if (parts->batch_groups > 1) return dilated ? nullptr : GroupedOutputDots(*parts);
  HloInstruction* input = dilated ? PlainInput(*parts) : PaddedInput(*parts);
  // The kernel as [taps…, input features, output features].
  std::vector<int64_t> order = parts->kernel_spatial, contracted;
  order.push_back(parts->kernel_input);
  order.push_back(parts->kernel_output);
  HloInstruction* kernel = emit::Transpose(emit::Convert(parts->kernel, parts->sum_type), order);
  std::vector<int64_t> from_input, from_kernel;
  for (int64_t k = 0; k <= parts->spatial(); ++k) {
    from_input.push_back(k + 1);
    from_kernel.push_back(k);
  }
  std::vector<HloInstruction*> rows;
  for (const std::vector<int64_t>& output : AllIndices(parts->outputs)) {
    // From the input [batch, spatial…, features], and from the kernel.
    std::vector<int64_t> starts = {0}, limits = {parts->batch}, strides = {1};
    std::vector<int64_t> tap_starts, tap_limits, tap_strides;
    for (int64_t k = 0; k < parts->spatial(); ++k) {
      const Meeting at =
          dilated ? DilatedMeeting(*parts, k, output[k]) : PaddedMeeting(*parts, k, output[k]);
      starts.push_back(at.input);
      strides.push_back(at.input_step);
      limits.push_back(at.count == 0 ? at.input : at.input + (at.count - 1) * at.input_step + 1);
      tap_starts.push_back(at.tap);
      tap_strides.push_back(at.tap_step);
      tap_limits.push_back(at.count == 0 ? at.tap : at.tap + (at.count - 1) * at.tap_step + 1);
    }
    for (const int64_t features :
         {parts->kernel->shape().dimensions(parts->kernel_input), parts->output_features}) {
      tap_starts.push_back(0);
      tap_limits.push_back(features);
      tap_strides.push_back(1);
    }
    starts.push_back(0);
    limits.push_back(parts->input_features);
    strides.push_back(1);
    HloInstruction* product =
        emit::Dot(emit::Slice(input, starts, limits, strides),
                  dilated ? emit::Slice(kernel, tap_starts, tap_limits, tap_strides) : kernel, {},
                  {}, from_input, from_kernel, parts->sum_type, parts->root->precision_config());
    rows.push_back(emit::Reshape(product, {parts->batch, 1, parts->output_features}));
  }
  std::vector<int64_t> stacked = {parts->batch};
  stacked.insert(stacked.end(), parts->outputs.begin(), parts->outputs.end());
  stacked.push_back(parts->output_features);
  return InOutputOrder(*parts, emit::Reshape(emit::Concatenate(rows, 1), stacked));
}

// Narrow floats converted to f32 and back.
absl::StatusOr<HloInstruction*> ConvolutionInF32(HloInstruction* root) {
  const auto parts = PartsOf(root);
  if (!parts) return nullptr;
  const xla::PrimitiveType input = parts->input->shape().element_type();
  if (!xla::primitive_util::IsFloatingPointType(input) ||
      (emit::SumType(input) == input && parts->sum_type == root->shape().element_type())) {
    return nullptr;
  }
  HloInstruction* wide = root->parent()->AddInstruction(
      root->CloneWithNewOperands(xla::ShapeUtil::ChangeElementType(root->shape(), parts->sum_type),
                                 {emit::Convert(parts->input, parts->sum_type),
                                  emit::Convert(parts->kernel, parts->sum_type)}));
  return emit::Convert(wide, root->shape().element_type());
}

}  // namespace hone::compiler
