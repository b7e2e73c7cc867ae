// Depthwise convolutions as kernels of hone-loops.
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
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/neighbourhood.h"
#include "compiler/implementations/task_text.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using Sizes = std::vector<int64_t>;

constexpr int64_t kLeastFeatures = 4;  // of a vector; of fewer shifts make better ones
constexpr int64_t kLeastMultiplications = 1 << 14;
constexpr int64_t kMostSpatial = 3;
constexpr int64_t kMostOfGroup = 8;  // features: the input is copied for each output of a group

std::string Joined(const Sizes& sizes) { return absl::StrJoin(sizes, ","); }

// Writes the task, and what it is handed.
class Depthwise {
 public:
  explicit Depthwise(const ConvolutionParts& parts) : parts_(parts) {}

  // Whether the result lies as it is made.
  bool Lies() const {
    return absl::c_is_sorted(
        Order({parts_.output_batch}, parts_.output_spatial, {parts_.output_feature}));
  }

  // The lines that define it as `y`, for others or, `:=`, for what takes it in.
  MadeText Text(bool stored) {
    HloInstruction* const input = Input();
    MadeText made;
    made.name = "y";
    made.inputs = InputLine("x", *input);
    const auto [kernel, order] = Kernel();
    absl::StrAppend(&made.inputs, InputLine("w", *kernel));
    const bool moved = !absl::c_is_sorted(order);
    if (moved) made.text = absl::StrCat("t := transpose w permutation=", Joined(order), ";");
    // A reversed kernel is one whose taps go the other way.
    Sizes dilations = parts_.window_dilation, pads = parts_.low;
    for (int64_t k = 0; k < parts_.spatial(); ++k) {
      if (!parts_.reversed[k]) continue;
      pads[k] -= (parts_.taps[k] - 1) * dilations[k];
      dilations[k] = -dilations[k];
    }
    absl::StrAppend(&made.text, stored ? "y = depthwise x " : "y := depthwise x ",
                    moved ? "t" : "w", " sizes=", Joined(parts_.outputs),
                    " strides=", Joined(parts_.strides), " dilations=", Joined(dilations),
                    " pads=", Joined(pads), ";");
    inputs_ = {emit::Convert(input, parts_.sum_type), emit::Convert(kernel, parts_.sum_type)};
    return made;
  }
  // After Text().
  const std::vector<HloInstruction*>& inputs() const { return inputs_; }

  HloInstruction* Call() {
    const MadeText made = Text(/*stored=*/true);
    const std::string task =
        absl::StrCat(loops::kKernelTaskBegin, made.inputs, made.text, "output y;");
    const Sizes sizes = Order({parts_.batch}, parts_.outputs, {parts_.output_features});
    const xla::PrimitiveType own = parts_.root->shape().element_type();
    if (Lies()) {
      return KernelCall(parts_.input->parent(), xla::ShapeUtil::MakeShape(own, sizes),
                        parts_.sum_type, inputs_, task);
    }
    HloInstruction* const call = KernelCall(
        parts_.input->parent(), xla::ShapeUtil::MakeShape(parts_.sum_type, sizes), inputs_, task);
    return InOutputOrder(parts_, call);
  }

 private:
  std::string InputLine(const char* name, const HloInstruction& value) const {
    return absl::StrCat("input ", name, " ", TaskType(parts_.sum_type), "[",
                        Joined(emit::SizesOf(value)), "];");
  }

  // As [N,S...,C], each feature as often as it has outputs.
  HloInstruction* Input() const {
    HloInstruction* const x = emit::Transpose(
        parts_.input, Order({parts_.input_batch}, parts_.input_spatial, {parts_.input_feature}));
    const int64_t times = parts_.output_features / parts_.input_features;
    if (times == 1) return x;
    Sizes sizes = emit::SizesOf(*x), wide = sizes, places;
    wide.push_back(times);
    for (size_t d = 0; d < sizes.size(); ++d) places.push_back(static_cast<int64_t>(d));
    sizes.back() *= times;
    return emit::Reshape(emit::Broadcast(x, wide, places), sizes);
  }

  // As it lies, without the dimension of features that it has for each group; and the order of
  // [K...,C] in it.
  std::pair<HloInstruction*, Sizes> Kernel() const {
    Sizes order = Order({}, parts_.kernel_spatial, {parts_.kernel_output});
    Sizes sizes = emit::SizesOf(*parts_.kernel);
    sizes.erase(sizes.begin() + parts_.kernel_input);
    for (int64_t& d : order) d -= d > parts_.kernel_input ? 1 : 0;
    return {emit::Reshape(parts_.kernel, sizes), order};
  }

  const ConvolutionParts& parts_;
  std::vector<HloInstruction*> inputs_;
};

// Whether kernels convolve such arrays, and it is worth one.
bool CanBeKernel(const ConvolutionParts& parts) {
  const int64_t multiplications = parts.batch * parts.output_count() * parts.tap_count() *
                                  parts.output_features * parts.input_features /
                                  std::max<int64_t>(1, parts.feature_groups);
  return parts.batch_groups == 1 && parts.spatial() >= 1 &&
         emit::Product(parts.base_dilation) == 1 && IsKernelFloat(parts.sum_type) &&
         IsKernelFloat(parts.input->shape().element_type()) &&
         IsKernelFloat(parts.kernel->shape().element_type()) &&
         !IsInOneKernel(*parts.root->parent()) && multiplications >= kLeastMultiplications;
}

// What a kernel can be made of.
std::optional<ConvolutionParts> DepthwiseAt(HloInstruction* root) {
  auto parts = PartsOf(root);
  if (!parts || parts->feature_groups != parts->input_features ||
      parts->input_features < kLeastFeatures || parts->spatial() > kMostSpatial ||
      !CanBeKernel(*parts)) {
    return std::nullopt;
  }
  LookThroughReverse(*parts);
  LookThroughTranspose(*parts);
  return parts;
}

// A convolution with few features in each of several groups.
std::optional<ConvolutionParts> GroupedAt(HloInstruction* root) {
  auto parts = PartsOf(root);
  if (!parts || parts->feature_groups < 2 || parts->feature_groups == parts->input_features ||
      parts->input_features > kMostOfGroup * parts->feature_groups ||
      parts->output_features > kMostOfGroup * parts->feature_groups ||
      parts->output_features < kLeastFeatures || parts->spatial() >= kMostSpatial ||
      !CanBeKernel(*parts)) {
    return std::nullopt;
  }
  LookThroughReverse(*parts);
  return parts;
}

// The same as a depthwise one: the features of a group are one more spatial dimension, the first,
// of which a window has all.
HloInstruction* GroupedCall(const ConvolutionParts& parts) {
  const int64_t spatial = parts.spatial(), groups = parts.feature_groups;
  const int64_t of_group = parts.input_features / groups;
  HloInstruction* x = emit::Transpose(
      parts.input, Order({parts.input_batch}, parts.input_spatial, {parts.input_feature}));
  Sizes split = emit::SizesOf(*x);
  split.back() = groups;
  split.push_back(of_group);
  // [N, S…, groups, of a group] -> [N, of a group, S…, groups], each for every output.
  Sizes order = {0, spatial + 2}, places;
  for (int64_t d = 1; d < spatial + 2; ++d) order.push_back(d);
  x = emit::Transpose(emit::Reshape(x, split), order);
  Sizes sizes = emit::SizesOf(*x), wide = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) places.push_back(static_cast<int64_t>(d));
  wide.push_back(parts.output_features / groups);
  sizes.back() = parts.output_features;
  x = emit::Reshape(emit::Broadcast(x, wide, places), sizes);

  HloInstruction* kernel = emit::Transpose(
      parts.kernel, Order({parts.kernel_input}, parts.kernel_spatial, {parts.kernel_output}));
  Sizes of_kernel = emit::SizesOf(*kernel);
  of_kernel.insert(of_kernel.end() - 1, 1);

  ConvolutionParts depthwise = parts;
  depthwise.input = x;
  depthwise.kernel = emit::Reshape(kernel, of_kernel);
  depthwise.taps.insert(depthwise.taps.begin(), of_group);
  depthwise.reversed.insert(depthwise.reversed.begin(), false);
  for (Sizes* zeros : {&depthwise.low, &depthwise.high}) zeros->insert(zeros->begin(), 0);
  for (Sizes* ones : {&depthwise.strides, &depthwise.base_dilation, &depthwise.window_dilation,
                      &depthwise.outputs}) {
    ones->insert(ones->begin(), 1);
  }
  depthwise.input_spatial.clear();
  depthwise.kernel_spatial.clear();
  for (int64_t k = 0; k <= spatial; ++k) {
    depthwise.input_spatial.push_back(k + 1);
    depthwise.kernel_spatial.push_back(k);
  }
  depthwise.output_spatial = depthwise.input_spatial;
  depthwise.feature_groups = depthwise.input_features = parts.output_features;
  depthwise.input_batch = depthwise.output_batch = 0;
  depthwise.input_feature = depthwise.output_feature = spatial + 2;
  depthwise.kernel_input = spatial + 1;
  depthwise.kernel_output = spatial + 2;
  return InOutputOrder(parts,
                       emit::Reshape(Depthwise(depthwise).Call(),
                                     Order({parts.batch}, parts.outputs, {parts.output_features})));
}

// One that lies as it is made, in the type of its value, so that more can be computed with it.
std::optional<Space> SpaceOfDepthwise(HloInstruction* value) {
  if (value->opcode() != xla::HloOpcode::kConvolution) return std::nullopt;
  const std::optional<ConvolutionParts> parts = DepthwiseAt(value);
  if (!parts || !Depthwise(*parts).Lies() || !MayBeUnrounded(*value) ||
      parts->sum_type != KernelType(value->shape().element_type())) {
    return std::nullopt;
  }
  return ElementsOf(value);
}

// What is elementwise behind it, with it.
HloInstruction* WithDepthwise(HloInstruction* root) {
  const std::optional<Space> space = SpaceWithin(root, SpaceOfDepthwise);
  const std::optional<Neighbourhood> end = space ? EndOf(root, *space) : std::nullopt;
  if (!end) return nullptr;
  const ConvolutionParts parts = *DepthwiseAt(space->made);
  Depthwise depthwise(parts);
  const MadeText made = depthwise.Text(/*stored=*/false);
  return CallWith(root, *end, *space, made, depthwise.inputs());
}

}  // namespace

std::vector<xla::HloOpcode> DepthwiseKernelsRoots() {
  return ElementwiseOpcodesAnd({xla::HloOpcode::kConvolution, xla::HloOpcode::kCompare});
}

// A convolution of floats with a group for each feature of its input becomes a custom call
// `hone_loops` (core/native_kernel.h) that convolves depthwise (loops/task.h); narrow floats are
// multiplied in f32. Features come last in it: what lies otherwise is transposed before and
// afterwards, and features with several outputs are repeated. What is elementwise behind one that
// lies so, and needs it alone, is computed in it. So are gradients of inputs, but where the
// convolution was strided: of several kernels, one for each residue, the results would have to be
// put together, which takes longer than shifted multiply-adds. A convolution with few features in
// each of several groups is a depthwise one with a spatial dimension more.
absl::StatusOr<HloInstruction*> DepthwiseKernels(HloInstruction* root) {
  if (!IsArray(root->shape())) return nullptr;
  if (root->opcode() == xla::HloOpcode::kCompare) return MaskOfMaximum(root, SpaceOfDepthwise);
  if (root->opcode() != xla::HloOpcode::kConvolution) return WithDepthwise(root);
  if (const std::optional<ConvolutionParts> grouped = GroupedAt(root)) {
    return GroupedCall(*grouped);
  }
  const std::optional<ConvolutionParts> parts = DepthwiseAt(root);
  if (!parts) return nullptr;
  if (const std::optional<Space> space = SpaceOfDepthwise(root); space && IsTakenIn(root, *space)) {
    return nullptr;
  }
  return Depthwise(*parts).Call();
}

}  // namespace hone::compiler
