// Convolutions as kernels of hone-loops.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/implementations/convolution_parts.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/features_last.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/neighbourhood.h"
#include "compiler/implementations/task_text.h"
#include "compiler/implementations/transpose_kernels.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using Sizes = std::vector<int64_t>;

constexpr int64_t kLeastFeatures = 16;
constexpr int64_t kLeastOutputs = 2;  // of windows; of products XLA makes more of few
constexpr int64_t kLeastInRow = 8;    // of a window, taps and features
constexpr int64_t kLeastMultiplications = 1 << 18;
constexpr int64_t kMostSpatial = 3;
constexpr int64_t kMostResidues = 16;

std::string Joined(const Sizes& sizes) { return absl::StrJoin(sizes, ","); }

// Dimension d of the one is dimension Inverse(order)[d] of the other.
Sizes Inverse(const Sizes& order) {
  Sizes inverse(order.size());
  for (size_t d = 0; d < order.size(); ++d) inverse[order[d]] = static_cast<int64_t>(d);
  return inverse;
}

// Writes the task, and what it is handed.
class Convolution {
 public:
  explicit Convolution(const ConvolutionParts& parts) : parts_(parts) {}

  // Whether the result is made as it lies: where features come last; else it is transposed
  // afterwards.
  bool Lies() const {
    return Permutation().back() == static_cast<int64_t>(Permutation().size()) - 1;
  }

  // The lines that define it as `y`, for others or, `:=`, for what takes it in.
  MadeText Text(bool stored) {
    const xla::PrimitiveType type = parts_.sum_type;
    const Sizes permutation = Permutation();
    const bool batch_within = Lies() && permutation[permutation.size() - 2] == 0;
    HloInstruction* const input =
        Operand("x", parts_.input,
                Order({parts_.input_batch}, parts_.input_spatial, {parts_.input_feature}),
                [&](int64_t dimension, const Sizes&) {
                  // A batch of 1 is what MergeFeatures leaves.
                  return dimension == parts_.input_feature ||
                         (dimension == parts_.input_batch && (batch_within || parts_.batch == 1));
                });
    along_input_ = along_;
    const bool along_batch = along_input_ == parts_.input_batch;
    HloInstruction* const kernel =
        Operand("w", parts_.kernel,
                Order({}, parts_.kernel_spatial, {parts_.kernel_input, parts_.kernel_output}),
                [&](int64_t dimension, const Sizes& before) {
                  if (dimension == parts_.kernel_input || TapsLie(before, dimension)) return true;
                  // The last of what is summed runs through the input's memory.
                  return dimension == parts_.kernel_output &&
                         (along_batch || before.empty() || before.back() == parts_.kernel_input);
                });
    // A reversed kernel is one whose taps go the other way.
    Sizes dilations = parts_.window_dilation, pads = parts_.low;
    for (int64_t k = 0; k < parts_.spatial(); ++k) {
      if (!parts_.reversed[k]) continue;
      pads[k] -= (parts_.taps[k] - 1) * dilations[k];
      dilations[k] = -dilations[k];
    }
    absl::StrAppend(&made_.text, stored ? "y = convolve " : "y := convolve ", names_[0], " ",
                    names_[1], " sizes=", Joined(parts_.outputs),
                    " strides=", Joined(parts_.strides), " dilations=", Joined(dilations),
                    " pads=", Joined(pads));
    if (Lies() && !absl::c_is_sorted(permutation)) {
      absl::StrAppend(&made_.text, " permutation=", Joined(permutation));
    }
    absl::StrAppend(&made_.text, ";");
    made_.name = "y";
    inputs_ = {emit::Convert(input, type), emit::Convert(kernel, type)};
    return made_;
  }
  // After Text().
  const std::vector<HloInstruction*>& inputs() const { return inputs_; }

  HloInstruction* Call() {
    const MadeText made = Text(/*stored=*/true);
    Sizes sizes = Order({parts_.batch}, parts_.outputs, {parts_.output_features});
    if (Lies()) {
      Sizes permuted;
      for (const int64_t d : Permutation()) permuted.push_back(sizes[d]);
      sizes = permuted;
    }
    HloInstruction* const call = KernelCall(
        parts_.input->parent(), xla::ShapeUtil::MakeShape(parts_.sum_type, sizes), inputs_,
        absl::StrCat(loops::kKernelTaskBegin, made.inputs, made.text, "output y;"));
    return emit::Convert(Lies() ? call : TransposedByKernel(call, Permutation()),
                         parts_.root->shape().element_type());
  }

 private:
  // Whether few taps lie behind features, which the input's memory runs along: the kernel is read
  // in runs of both. `before`: its dimensions but for the last one.
  bool TapsLie(const Sizes& before, int64_t last) const {
    constexpr int64_t kMostTapsInRuns = 16, kFeaturesInRuns = 32;
    if (along_input_ != parts_.input_feature || parts_.input_features % kFeaturesInRuns != 0 ||
        parts_.tap_count() > kMostTapsInRuns) {
      return false;
    }
    const auto features = absl::c_find(before, parts_.kernel_input);
    return last != parts_.kernel_output && features != before.begin() &&
           std::find(features, before.end(), parts_.kernel_output) == before.end();
  }

  Sizes Permutation() const {
    return Inverse(Order({parts_.output_batch}, parts_.output_spatial, {parts_.output_feature}));
  }

  // An input of the task, whose dimensions in the order are what the operation takes: as it lies
  // where the kernel can read along its last dimension, which `readable` says of that and of those
  // before it; else transposed. Dimensions of 1 are none.
  template <class Readable>
  HloInstruction* Operand(const char* name, HloInstruction* value, const Sizes& order,
                          const Readable& readable) {
    const Sizes sizes = emit::SizesOf(*value);
    Sizes before;
    for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
      if (sizes[d] != 1) before.push_back(d);
    }
    along_ = before.empty() ? static_cast<int64_t>(sizes.size()) - 1 : before.back();
    if (!before.empty()) before.pop_back();
    const bool lies = readable(along_, before);
    if (!lies) {
      value = TransposedByKernel(value, order);
      along_ = order.back();
    }
    absl::StrAppend(&made_.inputs, "input ", name, " ", TaskType(parts_.sum_type), "[",
                    Joined(emit::SizesOf(*value)), "];");
    const bool moved = lies && !absl::c_is_sorted(order);
    if (moved) {
      absl::StrAppend(&made_.text, name, "t := transpose ", name, " permutation=", Joined(order),
                      ";");
    }
    names_.push_back(absl::StrCat(name, moved ? "t" : ""));
    return value;
  }

  const ConvolutionParts& parts_;
  MadeText made_;
  std::vector<std::string> names_;
  std::vector<HloInstruction*> inputs_;
  int64_t along_ = -1;        // the dimension of the last operand that its memory runs along
  int64_t along_input_ = -1;  // of the input
};

// Of a dilated input: the result's positions q * dilation + residue meet the input's elements
// q + (residue + tap - low) / dilation, for those taps for which that is whole. So each residue is
// a convolution with some of the taps, and nothing is multiplied by the zeros between.
HloInstruction* ByResidues(const ConvolutionParts& parts) {
  const size_t rank = static_cast<size_t>(parts.spatial()) + 2;
  Sizes factors(rank, 1), sizes = emit::SizesOf(*parts.root);
  for (int64_t k = 0; k < parts.spatial(); ++k) {
    const int64_t d = parts.output_spatial[k], dilation = parts.base_dilation[k];
    factors[d] = dilation;
    sizes[d] = (sizes[d] + dilation - 1) / dilation;
  }
  std::vector<HloInstruction*> pieces;
  for (const Sizes& residue : AllIndices(factors)) {
    ConvolutionParts piece = parts;
    Sizes starts(rank, 0), limits = emit::SizesOf(*parts.kernel), steps(rank, 1);
    for (int64_t k = 0; k < parts.spatial(); ++k) {
      const int64_t dilation = parts.base_dilation[k], d = parts.kernel_spatial[k];
      const int64_t r = residue[parts.output_spatial[k]];
      const int64_t tap = ((parts.low[k] - r) % dilation + dilation) % dilation;
      const int64_t taps = std::max<int64_t>(0, (parts.taps[k] - tap + dilation - 1) / dilation);
      const int64_t last = tap + (taps - 1) * dilation;
      if (taps > 0) starts[d] = parts.reversed[k] ? parts.taps[k] - 1 - last : tap;
      limits[d] = starts[d] + std::max<int64_t>(0, last - tap + 1);
      steps[d] = dilation;
      piece.base_dilation[k] = 1;
      piece.taps[k] = taps;
      piece.low[k] = (parts.low[k] - r - tap) / dilation;
      piece.outputs[k] = sizes[parts.output_spatial[k]];
    }
    if (piece.tap_count() == 0) {
      pieces.push_back(emit::Broadcast(
          emit::Zero(parts.input->parent(), parts.root->shape().element_type()), sizes, {}));
      continue;
    }
    piece.kernel = emit::Slice(parts.kernel, starts, limits, steps);
    pieces.push_back(Convolution(piece).Call());
  }
  return emit::Slice(emit::Interleave(pieces, factors), Sizes(rank, 0), emit::SizesOf(*parts.root),
                     Sizes(rank, 1));
}

bool RunsAlongBatch(const ConvolutionParts& parts) {
  return parts.input_batch == parts.spatial() + 1;
}

// Whether few features, or images where these are what memory runs along, lie beside the last
// spatial dimension, and make rows of a window with it that are worth reading as vectors.
bool MayMergeFeatures(const ConvolutionParts& parts) {
  const int64_t k = parts.spatial() - 1, last = k + 2;
  if (parts.input_spatial[k] != last - 1 || parts.reversed[k]) return false;
  if (!RunsAlongBatch(parts)) {
    return parts.input_feature == last && parts.window_dilation[k] == 1 &&
           parts.input_features * parts.taps[k] >= kLeastInRow;
  }
  for (int64_t d = 0; d <= k; ++d) {
    if (parts.output_spatial[d] != d) return false;
  }
  return parts.output_batch == last - 1 && parts.strides[k] == 1 &&
         parts.batch * parts.outputs[k] >= kLeastFeatures;
}

// Makes them part of that dimension, so that there is something to read along: a window's taps and
// features are a row of memory. What is padded is written out.
void MergeFeatures(ConvolutionParts& parts) {
  const int64_t k = parts.spatial() - 1, last = k + 2;
  const bool along_batch = RunsAlongBatch(parts);
  const int64_t features = along_batch ? parts.batch : parts.input_features;
  if (!along_batch) {
    parts.kernel = TransposedByKernel(
        parts.kernel, Order({}, parts.kernel_spatial, {parts.kernel_input, parts.kernel_output}));
    absl::c_iota(parts.kernel_spatial, 0);
    parts.kernel_input = last - 1;
    parts.kernel_output = last;
  }
  Sizes none(last + 1, 0), low = none, high = none;
  if (parts.low[k] != 0 || parts.high[k] != 0) {
    // Written once, it is so along all dimensions: then nothing is outside for the kernel.
    for (int64_t d = 0; d <= k; ++d) {
      low[parts.input_spatial[d]] = std::exchange(parts.low[d], 0);
      high[parts.input_spatial[d]] = std::exchange(parts.high[d], 0);
    }
    parts.input = emit::Pad(parts.input,
                            emit::Zero(parts.input->parent(), parts.input->shape().element_type()),
                            low, high, none);
  }
  Sizes sizes = emit::SizesOf(*parts.input);
  sizes[last - 1] *= features;
  sizes[last] = 1;
  parts.input = emit::Reshape(parts.input, sizes);
  if (along_batch) {
    parts.batch = 1;
    parts.window_dilation[k] *= features;
    parts.outputs[k] *= features;
    parts.output_batch = 0;
    for (int64_t d = 0; d <= k; ++d) parts.output_spatial[d] = d + 1;
    return;
  }
  Sizes kernel = emit::SizesOf(*parts.kernel);
  kernel[last - 2] *= features;
  kernel[last - 1] = 1;
  parts.kernel = emit::Reshape(parts.kernel, kernel);
  parts.taps[k] *= features;
  parts.strides[k] *= features;
  parts.input_features = 1;
}

// What a kernel can be made of, or several.
struct Found {
  ConvolutionParts parts;
  int64_t residues = 1;
  bool few = false;  // of what memory runs along, which is read as vectors: MergeFeatures
};
std::optional<Found> ConvolutionAt(HloInstruction* root) {
  auto parts = PartsOf(root);
  if (!parts || parts->feature_groups != 1 || parts->batch_groups != 1 || parts->spatial() < 1 ||
      parts->spatial() > kMostSpatial) {
    return std::nullopt;
  }
  const int64_t residues = emit::Product(parts->base_dilation);
  for (int64_t k = 0; k < parts->spatial(); ++k) {
    if (residues > kMostResidues || (parts->base_dilation[k] != 1 &&
                                     (parts->strides[k] != 1 || parts->window_dilation[k] != 1))) {
      return std::nullopt;
    }
  }
  if (!IsKernelFloat(parts->sum_type) || !IsKernelFloat(parts->input->shape().element_type()) ||
      !IsKernelFloat(parts->kernel->shape().element_type()) || IsInOneKernel(*root->parent())) {
    return std::nullopt;
  }
  const int64_t terms = parts->input_features * parts->tap_count();
  const bool few = (RunsAlongBatch(*parts) ? parts->batch : parts->input_features) < kLeastFeatures;
  if (parts->output_features < (parts->tap_count() == 1 ? kLeastFeatures : kLeastOutputs) ||
      (few && (residues > 1 || !MayMergeFeatures(*parts))) ||
      parts->batch * parts->output_count() * terms * parts->output_features <
          kLeastMultiplications * residues) {
    return std::nullopt;
  }
  if (!few) {  // whose rows of windows are to lie as they are made
    LookThroughReverse(*parts);
    LookThroughTranspose(*parts);
  }
  return Found{*std::move(parts), residues, few};
}

// One that is a single kernel, in the type of its value, so that more can be computed with it.
std::optional<Space> SpaceOfConvolution(HloInstruction* value) {
  if (value->opcode() != xla::HloOpcode::kConvolution) return std::nullopt;
  const std::optional<Found> found = ConvolutionAt(value);
  if (!found || found->residues > 1 || !Convolution(found->parts).Lies() ||
      (found->few && RunsAlongBatch(found->parts)) || !MayBeUnrounded(*value) ||
      found->parts.sum_type != KernelType(value->shape().element_type())) {
    return std::nullopt;
  }
  return ElementsOf(value);
}

// What is elementwise behind a convolution, with it.
HloInstruction* WithConvolution(HloInstruction* root) {
  const std::optional<Space> space = SpaceWithin(root, SpaceOfConvolution);
  const std::optional<Neighbourhood> end = space ? EndOf(root, *space) : std::nullopt;
  if (!end) return nullptr;
  Found found = *ConvolutionAt(space->made);
  if (found.few) MergeFeatures(found.parts);
  Convolution convolution(found.parts);
  const MadeText made = convolution.Text(/*stored=*/false);
  return CallWith(root, *end, *space, made, convolution.inputs());
}

}  // namespace

std::vector<xla::HloOpcode> ConvolutionKernelsRoots() { return FeaturesLastRoots(); }

// A convolution of floats without groups, of enough features for vectors, or of rows of windows
// that are runs of memory, becomes a custom call `hone_loops` (core/native_kernel.h) that convolves
// (loops/task.h), one for each residue where the input is dilated; narrow floats are multiplied in
// f32. Gradients of inputs and of kernels are such convolutions, too. Images with features first
// become images with features last (features_last.h). What lies so that nothing of it could be read
// as vectors is transposed first. What is elementwise behind one that is a single
// kernel, and needs it alone, is computed in it, of f32 and f64.
absl::StatusOr<HloInstruction*> ConvolutionKernels(HloInstruction* root) {
  if (!IsArray(root->shape())) return nullptr;
  if (HloInstruction* const moved = FeaturesLast(root)) return moved;
  if (root->opcode() == xla::HloOpcode::kCompare) return MaskOfMaximum(root, SpaceOfConvolution);
  if (IsElementwise(root->opcode())) return WithConvolution(root);
  if (root->opcode() != xla::HloOpcode::kConvolution) return nullptr;
  std::optional<Found> found = ConvolutionAt(root);
  if (!found) return nullptr;
  if (const std::optional<Space> space = SpaceOfConvolution(root);
      space && IsTakenIn(root, *space)) {
    return nullptr;
  }
  ConvolutionParts& parts = found->parts;
  if (found->few) {
    MergeFeatures(parts);
    return emit::Reshape(Convolution(parts).Call(), emit::SizesOf(*root));
  }
  return found->residues > 1 ? ByResidues(parts) : Convolution(parts).Call();
}

}  // namespace hone::compiler
