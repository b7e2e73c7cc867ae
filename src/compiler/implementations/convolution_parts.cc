#include "compiler/implementations/convolution_parts.h"

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using Sizes = std::vector<int64_t>;

}  // namespace

int64_t ConvolutionParts::tap_count() const { return emit::Product(taps); }
int64_t ConvolutionParts::output_count() const { return emit::Product(outputs); }

std::optional<ConvolutionParts> PartsOf(HloInstruction* root) {
  if (root->opcode() != xla::HloOpcode::kConvolution || !emit::Free(*root)) return std::nullopt;
  const xla::PrimitiveType type = root->shape().element_type();
  if (xla::primitive_util::IsComplexType(type) || xla::primitive_util::BitWidth(type) < 8) {
    return std::nullopt;
  }
  if (xla::ShapeUtil::IsZeroElementArray(root->shape())) return std::nullopt;
  ConvolutionParts parts;
  parts.root = xla::Cast<xla::HloConvolutionInstruction>(root);
  parts.input = root->mutable_operand(0);
  parts.kernel = root->mutable_operand(1);
  for (const HloInstruction* operand : root->operands()) {
    if (xla::ShapeUtil::IsZeroElementArray(operand->shape())) return std::nullopt;
  }
  parts.sum_type = emit::SumType(type);
  for (const xla::WindowDimension& dimension : root->window().dimensions()) {
    parts.taps.push_back(dimension.size());
    parts.strides.push_back(dimension.stride());
    parts.low.push_back(dimension.padding_low());
    parts.high.push_back(dimension.padding_high());
    parts.base_dilation.push_back(dimension.base_dilation());
    parts.window_dilation.push_back(dimension.window_dilation());
    parts.reversed.push_back(dimension.window_reversal());
  }
  const xla::ConvolutionDimensionNumbers& numbers = root->convolution_dimension_numbers();
  for (int64_t k = 0; k < parts.spatial(); ++k) {
    parts.input_spatial.push_back(numbers.input_spatial_dimensions(k));
    parts.kernel_spatial.push_back(numbers.kernel_spatial_dimensions(k));
    parts.output_spatial.push_back(numbers.output_spatial_dimensions(k));
    parts.outputs.push_back(root->shape().dimensions(parts.output_spatial.back()));
  }
  parts.input_batch = numbers.input_batch_dimension();
  parts.input_feature = numbers.input_feature_dimension();
  parts.kernel_input = numbers.kernel_input_feature_dimension();
  parts.kernel_output = numbers.kernel_output_feature_dimension();
  parts.output_batch = numbers.output_batch_dimension();
  parts.output_feature = numbers.output_feature_dimension();
  parts.batch = parts.input->shape().dimensions(parts.input_batch);
  parts.input_features = parts.input->shape().dimensions(parts.input_feature);
  parts.output_features = root->shape().dimensions(parts.output_feature);
  parts.feature_groups = root->feature_group_count();
  parts.batch_groups = root->batch_group_count();
  return parts;
}

std::vector<std::vector<int64_t>> AllIndices(const std::vector<int64_t>& bounds) {
  std::vector<std::vector<int64_t>> all = {{}};
  for (int64_t bound : bounds) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& index : all) {
      for (int64_t k = 0; k < bound; ++k) {
        longer.push_back(index);
        longer.back().push_back(k);
      }
    }
    all = std::move(longer);
  }
  return all;
}

HloInstruction* KernelTap(const ConvolutionParts& parts, const std::vector<int64_t>& tap) {
  std::vector<int64_t> starts(parts.spatial() + 2, 0);
  std::vector<int64_t> limits = emit::SizesOf(*parts.kernel);
  const int64_t inputs = limits[parts.kernel_input];
  for (int64_t k = 0; k < parts.spatial(); ++k) {
    starts[parts.kernel_spatial[k]] = parts.KernelIndex(k, tap[k]);
    limits[parts.kernel_spatial[k]] = starts[parts.kernel_spatial[k]] + 1;
  }
  const std::vector<int64_t> ones(starts.size(), 1);
  HloInstruction* slice =
      emit::Convert(emit::Slice(parts.kernel, starts, limits, ones), parts.sum_type);
  const int64_t outputs = parts.output_features;
  if (parts.kernel_input < parts.kernel_output) return emit::Reshape(slice, {inputs, outputs});
  return emit::Transpose(emit::Reshape(slice, {outputs, inputs}), {1, 0});
}

HloInstruction* PlainInput(const ConvolutionParts& parts) {
  std::vector<int64_t> order = {parts.input_batch};
  order.insert(order.end(), parts.input_spatial.begin(), parts.input_spatial.end());
  order.push_back(parts.input_feature);
  return emit::Transpose(emit::Convert(parts.input, parts.sum_type), order);
}

HloInstruction* PaddedInput(const ConvolutionParts& parts) {
  std::vector<int64_t> low = {0}, high = {0}, interior = {0};
  for (int64_t k = 0; k < parts.spatial(); ++k) {
    low.push_back(parts.low[k]);
    high.push_back(parts.high[k]);
    interior.push_back(parts.base_dilation[k] - 1);
  }
  for (auto* padding : {&low, &high, &interior}) padding->push_back(0);
  HloInstruction* zero = emit::Zero(parts.input->parent(), parts.sum_type);
  return emit::Pad(PlainInput(parts), zero, low, high, interior);
}

HloInstruction* InOutputOrder(const ConvolutionParts& parts, HloInstruction* result) {
  std::vector<int64_t> order(parts.spatial() + 2);
  order[parts.output_batch] = 0;
  order[parts.output_feature] = parts.spatial() + 1;
  for (int64_t k = 0; k < parts.spatial(); ++k) order[parts.output_spatial[k]] = k + 1;
  return emit::Convert(emit::Transpose(result, order), parts.root->shape().element_type());
}

Sizes Order(const Sizes& first, const Sizes& spatial, const Sizes& last) {
  Sizes order = first;
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

void LookThroughReverse(ConvolutionParts& parts) {
  while (parts.kernel->opcode() == xla::HloOpcode::kReverse &&
         absl::c_all_of(parts.kernel->dimensions(), [&](int64_t d) {
           return absl::c_linear_search(parts.kernel_spatial, d);
         })) {
    for (const int64_t d : parts.kernel->dimensions()) {
      const auto k = absl::c_find(parts.kernel_spatial, d) - parts.kernel_spatial.begin();
      parts.reversed[k] = !parts.reversed[k];
    }
    parts.kernel = parts.kernel->mutable_operand(0);
  }
}

void LookThroughTranspose(ConvolutionParts& parts) {
  while (parts.kernel->opcode() == xla::HloOpcode::kTranspose) {
    BeforeTranspose(parts.kernel, {&parts.kernel_input, &parts.kernel_output},
                    parts.kernel_spatial);
  }
}

void BeforeTranspose(HloInstruction*& operand, const std::vector<int64_t*>& numbers,
                     std::vector<int64_t>& spatial) {
  for (int64_t* number : numbers) *number = operand->dimensions(*number);
  for (int64_t& number : spatial) number = operand->dimensions(number);
  operand = operand->mutable_operand(0);
}

}  // namespace hone::compiler
