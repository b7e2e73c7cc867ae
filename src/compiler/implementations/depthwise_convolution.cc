// Depthwise convolutions (each output feature sees one input feature) and their gradients as
// multiply-adds of shifted arrays. XLA:CPU computes them with a scalar loop.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/convolution_parts.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kFewFeatures = 8;
constexpr int64_t kMostTaps = 256;  // of few features, which have no other way

int64_t FloorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// […, C, …] as […, C * multiplier, …]: each feature as often as it has outputs.
HloInstruction* RepeatFeatures(HloInstruction* x, int64_t dimension, int64_t multiplier) {
  if (multiplier == 1) return x;
  std::vector<int64_t> sizes = emit::SizesOf(*x);
  std::vector<int64_t> wide = sizes, places;
  wide.insert(wide.begin() + dimension + 1, multiplier);
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    places.push_back(d <= dimension ? d : d + 1);
  }
  sizes[dimension] *= multiplier;
  return emit::Reshape(emit::Broadcast(x, wide, places), sizes);
}

// The input in the output's order of dimensions, in the sum type, features repeated.
HloInstruction* InputInOutputOrder(const ConvolutionParts& parts) {
  std::vector<int64_t> order(parts.spatial() + 2);
  order[parts.output_batch] = parts.input_batch;
  order[parts.output_feature] = parts.input_feature;
  for (int64_t k = 0; k < parts.spatial(); ++k) {
    order[parts.output_spatial[k]] = parts.input_spatial[k];
  }
  HloInstruction* x = emit::Transpose(emit::Convert(parts.input, parts.sum_type), order);
  return RepeatFeatures(x, parts.output_feature, parts.output_features / parts.input_features);
}

// The weights of a tap, broadcast along everything but the feature.
HloInstruction* Weights(const ConvolutionParts& parts, const std::vector<int64_t>& tap,
                        const std::vector<int64_t>& sizes) {
  HloInstruction* weights = emit::Reshape(KernelTap(parts, tap), {parts.output_features});
  return emit::Broadcast(weights, sizes, {parts.output_feature});
}

HloInstruction* Shifted(const ConvolutionParts& parts) {
  const int64_t rank = parts.spatial() + 2;
  std::vector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0);
  for (int64_t k = 0; k < parts.spatial(); ++k) {
    low[parts.output_spatial[k]] = parts.low[k];
    high[parts.output_spatial[k]] = parts.high[k];
    interior[parts.output_spatial[k]] = parts.base_dilation[k] - 1;
  }
  HloInstruction* x =
      emit::Pad(InputInOutputOrder(parts), emit::Zero(parts.input->parent(), parts.sum_type), low,
                high, interior);
  const std::vector<int64_t> sizes = emit::SizesOf(*parts.root);
  HloInstruction* sum = nullptr;
  for (const std::vector<int64_t>& tap : AllIndices(parts.taps)) {
    std::vector<int64_t> starts(rank, 0), limits = sizes, strides(rank, 1);
    for (int64_t k = 0; k < parts.spatial(); ++k) {
      const int64_t d = parts.output_spatial[k];
      starts[d] = tap[k] * parts.window_dilation[k];
      strides[d] = parts.strides[k];
      limits[d] = starts[d] + (sizes[d] - 1) * strides[d] + 1;
    }
    sum =
        emit::AddTo(sum, emit::Binary(HloOpcode::kMultiply, emit::Slice(x, starts, limits, strides),
                                      Weights(parts, tap, sizes)));
  }
  return sum;
}

// Output position q * dilation + residue takes, with tap k, the input at
// q + (residue + k - low) / dilation, for those k for which that is whole.
HloInstruction* ShiftedByResidues(const ConvolutionParts& parts) {
  const int64_t rank = parts.spatial() + 2;
  HloInstruction* x = InputInOutputOrder(parts);
  const std::vector<int64_t> input_sizes = emit::SizesOf(*x);
  std::vector<int64_t> sizes = emit::SizesOf(*parts.root), low(rank, 0), high(rank, 0);
  std::vector<int64_t> factors(rank, 1);
  for (int64_t k = 0; k < parts.spatial(); ++k) {
    const int64_t d = parts.output_spatial[k], dilation = parts.base_dilation[k];
    factors[d] = dilation;
    sizes[d] = (sizes[d] + dilation - 1) / dilation;
    const int64_t first = FloorDivide(-parts.low[k], dilation);
    const int64_t last = FloorDivide(
        dilation - 1 + (parts.taps[k] - 1) * parts.window_dilation[k] - parts.low[k], dilation);
    low[d] = -first;
    high[d] = std::max<int64_t>(0, last + sizes[d] - input_sizes[d]);
  }
  x = emit::Pad(x, emit::Zero(parts.input->parent(), parts.sum_type), low, high,
                std::vector<int64_t>(rank, 0));
  const std::vector<int64_t> ones(rank, 1);
  std::vector<HloInstruction*> pieces;  // one per residue
  for (const std::vector<int64_t>& residue : AllIndices(factors)) {
    HloInstruction* sum = nullptr;
    for (const std::vector<int64_t>& tap : AllIndices(parts.taps)) {
      std::vector<int64_t> starts(rank, 0), limits = sizes;
      bool hits = true;
      for (int64_t k = 0; k < parts.spatial(); ++k) {
        const int64_t d = parts.output_spatial[k];
        const int64_t at = residue[d] + tap[k] * parts.window_dilation[k] - parts.low[k];
        const int64_t quotient = FloorDivide(at, parts.base_dilation[k]);
        hits = hits && quotient * parts.base_dilation[k] == at;
        starts[d] = quotient + low[d];
        limits[d] = starts[d] + sizes[d];
      }
      if (!hits) continue;
      sum =
          emit::AddTo(sum, emit::Binary(HloOpcode::kMultiply, emit::Slice(x, starts, limits, ones),
                                        Weights(parts, tap, sizes)));
    }
    if (sum == nullptr) {
      sum = emit::Broadcast(emit::Zero(x->parent(), parts.sum_type), sizes, {});
    }
    pieces.push_back(sum);
  }
  return emit::Slice(emit::Interleave(pieces, factors), std::vector<int64_t>(rank, 0),
                     emit::SizesOf(*parts.root), ones);
}

}  // namespace

// Forward and input gradient: the sum over the taps of a slice of the padded input times the tap's
// weights; also of one feature to a few, as stencils and filters of grey images are. Where the
// input is base-dilated (the gradient of a strided one), each residue of the output positions
// modulo the dilation has its own few taps, and the residues are interleaved.
absl::StatusOr<HloInstruction*> DepthwiseShifts(HloInstruction* root) {
  const auto parts = PartsOf(root);
  if (!parts || parts->batch_groups != 1 || parts->feature_groups != parts->input_features ||
      (parts->input_features == 1 && parts->output_features > kFewFeatures) ||
      parts->tap_count() > (parts->input_features <= kFewFeatures ? kMostTaps : kMostTerms)) {
    return nullptr;
  }
  bool dilated = false, strided = false;
  for (int64_t k = 0; k < parts->spatial(); ++k) {
    dilated = dilated || parts->base_dilation[k] > 1;
    strided = strided || parts->strides[k] > 1;
  }
  HloInstruction* sum = dilated && !strided && emit::Product(parts->base_dilation) <= 16
                            ? ShiftedByResidues(*parts)
                            : Shifted(*parts);
  return emit::Convert(sum, root->shape().element_type());
}

// Kernel gradient (batch groups of one): for each output position the sum of the products of a
// slice of the input with the whole "kernel", which is the gradient of the output.
absl::StatusOr<HloInstruction*> DepthwiseKernelGradientShifts(HloInstruction* root) {
  const auto parts = PartsOf(root);
  if (!parts || parts->feature_groups != 1 || parts->batch_groups < 2 ||
      parts->batch_groups != parts->batch || parts->output_count() > kMostTerms) {
    return nullptr;
  }
  for (bool reversed : parts->reversed) {
    if (reversed) return nullptr;
  }
  // Everything in the kernel's order of dimensions.
  const int64_t rank = parts->spatial() + 2;
  std::vector<int64_t> order(rank), low(rank, 0), high(rank, 0), interior(rank, 0), summed;
  order[parts->kernel_input] = parts->input_feature;
  order[parts->kernel_output] = parts->input_batch;
  for (int64_t k = 0; k < parts->spatial(); ++k) {
    const int64_t d = parts->kernel_spatial[k];
    order[d] = parts->input_spatial[k];
    low[d] = parts->low[k];
    high[d] = parts->high[k];
    interior[d] = parts->base_dilation[k] - 1;
  }
  for (int64_t d = 0; d < rank; ++d) {
    if (d != parts->kernel_output) summed.push_back(d);
  }
  HloInstruction* zero = emit::Zero(root->parent(), parts->sum_type);
  HloInstruction* x =
      emit::Pad(emit::Transpose(emit::Convert(parts->input, parts->sum_type), order), zero, low,
                high, interior);
  x = RepeatFeatures(x, parts->kernel_output, parts->output_features / parts->batch);
  HloInstruction* kernel = emit::Convert(parts->kernel, parts->sum_type);
  const std::vector<int64_t> sizes = emit::SizesOf(*kernel);
  std::vector<HloInstruction*> rows;
  for (const std::vector<int64_t>& output : AllIndices(parts->outputs)) {
    std::vector<int64_t> starts(rank, 0), limits = sizes, strides(rank, 1);
    for (int64_t k = 0; k < parts->spatial(); ++k) {
      const int64_t d = parts->kernel_spatial[k];
      starts[d] = output[k] * parts->strides[k];
      strides[d] = parts->window_dilation[k];
      limits[d] = starts[d] + (sizes[d] - 1) * strides[d] + 1;
    }
    HloInstruction* product =
        emit::Binary(HloOpcode::kMultiply, emit::Slice(x, starts, limits, strides), kernel);
    HloInstruction* sum = emit::Reduce(product, zero, summed, HloOpcode::kAdd);
    rows.push_back(emit::Reshape(sum, {1, parts->output_features}));
  }
  std::vector<int64_t> stacked = {1};
  stacked.insert(stacked.end(), parts->outputs.begin(), parts->outputs.end());
  stacked.push_back(parts->output_features);
  return InOutputOrder(*parts, emit::Reshape(emit::Concatenate(rows, 0), stacked));
}

}  // namespace hone::compiler
