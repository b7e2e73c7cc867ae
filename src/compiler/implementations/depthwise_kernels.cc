// Depthwise convolutions as kernels of hone-loops.
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

// What a kernel can be made of.
std::optional<ConvolutionParts> DepthwiseAt(HloInstruction* root) {
  auto parts = PartsOf(root);
  if (!parts || parts->feature_groups != parts->input_features || parts->batch_groups != 1 ||
      parts->input_features < kLeastFeatures || parts->spatial() < 1 ||
      parts->spatial() > kMostSpatial) {
    return std::nullopt;
  }
  if (emit::Product(parts->base_dilation) != 1 || !IsKernelFloat(parts->sum_type) ||
      !IsKernelFloat(parts->input->shape().element_type()) ||
      !IsKernelFloat(parts->kernel->shape().element_type()) || IsInOneKernel(*root->parent())) {
    return std::nullopt;
  }
  const int64_t multiplications =
      parts->batch * parts->output_count() * parts->tap_count() * parts->output_features;
  if (multiplications < kLeastMultiplications) return std::nullopt;
  LookThroughReverse(*parts);
  LookThroughTranspose(*parts);
  return parts;
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
// put together, which takes longer than shifted multiply-adds.
absl::StatusOr<HloInstruction*> DepthwiseKernels(HloInstruction* root) {
  if (!IsArray(root->shape())) return nullptr;
  if (root->opcode() == xla::HloOpcode::kCompare) return MaskOfMaximum(root, SpaceOfDepthwise);
  if (root->opcode() != xla::HloOpcode::kConvolution) return WithDepthwise(root);
  const std::optional<ConvolutionParts> parts = DepthwiseAt(root);
  if (!parts) return nullptr;
  if (const std::optional<Space> space = SpaceOfDepthwise(root); space && IsTakenIn(root, *space)) {
    return nullptr;
  }
  return Depthwise(*parts).Call();
}

}  // namespace hone::compiler
