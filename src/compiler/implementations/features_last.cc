#include "compiler/implementations/features_last.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "compiler/implementations/convolution_parts.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"
#include "xla/window_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// From [N, S..., C] to [N, C, S...]: dimension d of the result is dimension FeaturesFirst()[d].
Sizes FeaturesFirst(size_t rank) {
  Sizes permutation(rank);
  std::iota(permutation.begin(), permutation.end(), -1);
  permutation[0] = 0;
  permutation[1] = static_cast<int64_t>(rank) - 1;
  return permutation;
}

// What is transposed to have features first; null where it is something else.
HloInstruction* WithFeaturesLast(const HloInstruction* value) {
  if (value->opcode() != HloOpcode::kTranspose || value->shape().dimensions().size() < 3 ||
      !absl::c_equal(value->dimensions(), FeaturesFirst(value->shape().dimensions().size())) ||
      !emit::Free(*value)) {
    return nullptr;
  }
  return const_cast<HloInstruction*>(value->operand(0));
}

// What each dimension d has, at FeaturesFirst()[d].
template <class T>
std::vector<T> Moved(const std::vector<T>& of_dimensions) {
  const Sizes permutation = FeaturesFirst(of_dimensions.size());
  std::vector<T> moved(of_dimensions.size());
  for (size_t d = 0; d < moved.size(); ++d) moved[permutation[d]] = of_dimensions[d];
  return moved;
}
xla::Shape Moved(const xla::Shape& shape) {
  return xla::ShapeUtil::MakeShape(
      shape.element_type(), Moved(Sizes(shape.dimensions().begin(), shape.dimensions().end())));
}
template <class List>
void MoveDimensions(List& list) {
  const std::vector<typename List::value_type> before(list.begin(), list.end());
  absl::c_copy(Moved(before), list.begin());
}

HloInstruction* Add(HloInstruction* root, std::unique_ptr<HloInstruction> made) {
  return root->parent()->AddInstruction(std::move(made));
}
HloInstruction* Back(HloInstruction* made) {
  return emit::Transpose(made, FeaturesFirst(made->shape().dimensions().size()));
}

// ---------------------------------------------------------------- what follows

// A broadcast to features first as one to features last.
HloInstruction* MovedBroadcast(HloInstruction* broadcast) {
  const Sizes permutation = FeaturesFirst(broadcast->shape().dimensions().size());
  Sizes places;
  for (const int64_t d : broadcast->dimensions()) places.push_back(permutation[d]);
  Sizes order(places.size());
  std::iota(order.begin(), order.end(), 0);
  absl::c_sort(order, [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  absl::c_sort(places);
  const xla::Shape shape = Moved(broadcast->shape());
  return emit::Broadcast(emit::Transpose(broadcast->mutable_operand(0), order),
                         Sizes(shape.dimensions().begin(), shape.dimensions().end()), places);
}

HloInstruction* MovedElementwise(HloInstruction* root) {
  bool any = false;
  for (const HloInstruction* operand : root->operands()) {
    const bool last = WithFeaturesLast(operand) != nullptr;
    any |= last;
    if (!last && !operand->shape().dimensions().empty() &&
        operand->opcode() != HloOpcode::kBroadcast) {
      return nullptr;
    }
  }
  if (!any) return nullptr;
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : root->operands()) {
    HloInstruction* const last = WithFeaturesLast(operand);
    const bool scalar = operand->shape().dimensions().empty();
    operands.push_back(last != nullptr ? last : scalar ? operand : MovedBroadcast(operand));
  }
  return Back(Add(root, root->CloneWithNewOperands(Moved(root->shape()), operands)));
}

HloInstruction* MovedReduce(HloInstruction* root) {
  if (root->operand_count() != 2) return nullptr;
  HloInstruction* const last = WithFeaturesLast(root->operand(0));
  if (last == nullptr) return nullptr;
  const Sizes permutation = FeaturesFirst(last->shape().dimensions().size());
  Sizes reduced, kept;  // dimensions of what is transposed, the kept ones in the result's order
  for (size_t d = 0; d < permutation.size(); ++d) {
    (absl::c_linear_search(root->dimensions(), d) ? reduced : kept).push_back(permutation[d]);
  }
  absl::c_sort(reduced);
  Sizes sorted = kept, sizes, order;
  absl::c_sort(sorted);
  for (const int64_t d : sorted) sizes.push_back(last->shape().dimensions(d));
  for (const int64_t d : kept) order.push_back(absl::c_find(sorted, d) - sorted.begin());
  const xla::Shape shape = xla::ShapeUtil::MakeShape(root->shape().element_type(), sizes);
  return emit::Transpose(
      Add(root, HloInstruction::CreateReduce(shape, last, root->mutable_operand(1), reduced,
                                             root->to_apply())),
      order);
}

xla::Window MovedWindow(const HloInstruction& root) {
  xla::Window window = root.window();
  MoveDimensions(*window.mutable_dimensions());
  return window;
}

HloInstruction* MovedReduceWindow(HloInstruction* root) {
  if (root->operand_count() != 2) return nullptr;
  HloInstruction* const last = WithFeaturesLast(root->operand(0));
  if (last == nullptr) return nullptr;
  return Back(Add(
      root, HloInstruction::CreateReduceWindow(Moved(root->shape()), last, root->mutable_operand(1),
                                               MovedWindow(*root), root->to_apply())));
}

HloInstruction* MovedSelectAndScatter(HloInstruction* root) {
  HloInstruction* const last = WithFeaturesLast(root->operand(0));
  HloInstruction* const source = WithFeaturesLast(root->operand(1));
  if (last == nullptr || source == nullptr) return nullptr;
  return Back(Add(root, HloInstruction::CreateSelectAndScatter(
                            Moved(root->shape()), last, root->select(), MovedWindow(*root), source,
                            root->mutable_operand(2), root->scatter())));
}

HloInstruction* MovedPad(HloInstruction* root) {
  HloInstruction* const last = WithFeaturesLast(root->operand(0));
  if (last == nullptr) return nullptr;
  xla::PaddingConfig config = root->padding_config();
  MoveDimensions(*config.mutable_dimensions());
  return Back(Add(root, HloInstruction::CreatePad(Moved(root->shape()), last,
                                                  root->mutable_operand(1), config)));
}

HloInstruction* MovedSlice(HloInstruction* root) {
  HloInstruction* const last = WithFeaturesLast(root->operand(0));
  if (last == nullptr) return nullptr;
  return Back(emit::Slice(last, Moved(root->slice_starts()), Moved(root->slice_limits()),
                          Moved(root->slice_strides())));
}

HloInstruction* MovedConcatenate(HloInstruction* root) {
  std::vector<HloInstruction*> parts;
  for (const HloInstruction* operand : root->operands()) {
    parts.push_back(WithFeaturesLast(operand));
    if (parts.back() == nullptr) return nullptr;
  }
  const Sizes permutation = FeaturesFirst(root->shape().dimensions().size());
  return Back(emit::Concatenate(parts, permutation[root->concatenate_dimension()]));
}

// One that follows on another: they are one, or none.
HloInstruction* MovedTranspose(HloInstruction* root) {
  HloInstruction* const last = WithFeaturesLast(root->operand(0));
  if (last == nullptr) return nullptr;
  const Sizes permutation = FeaturesFirst(last->shape().dimensions().size());
  Sizes both;
  for (const int64_t d : root->dimensions()) both.push_back(permutation[d]);
  return emit::Transpose(last, both);
}

// ---------------------------------------------------------------- convolutions

// An operand as it is before it is transposed, with the numbers of its dimensions; unless spatial
// ones are last then.
bool LookThrough(HloInstruction*& operand, const std::vector<int64_t*>& numbers, Sizes& spatial) {
  if (operand->opcode() != HloOpcode::kTranspose || !emit::Free(*operand)) return false;
  const auto last = static_cast<int64_t>(operand->dimensions().size()) - 1;
  if (absl::c_any_of(spatial,
                     [&](int64_t number) { return operand->dimensions(number) == last; })) {
    return false;
  }
  BeforeTranspose(operand, numbers, spatial);
  return true;
}

// Transposed, so that these dimensions are the first, spatial ones, and the last.
void PutInOrder(HloInstruction*& operand, int64_t& first, Sizes& spatial, int64_t& last) {
  Sizes order = {first};
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.push_back(last);
  operand = emit::Transpose(operand, order);
  first = 0;
  absl::c_iota(spatial, 1);
  last = static_cast<int64_t>(order.size()) - 1;
}

HloInstruction* MovedConvolution(HloInstruction* root) {
  std::optional<ConvolutionParts> parts = PartsOf(root);
  if (!parts || parts->spatial() < 1) return nullptr;
  const int64_t last = parts->spatial() + 1;
  const auto is_last = [&](const Sizes& spatial) { return absl::c_linear_search(spatial, last); };
  // Of a kernel's gradient, images are features, and the result's gradient is the kernel.
  const bool gradient = parts->input_feature < parts->input_batch;
  bool changed =
      LookThrough(parts->input, {&parts->input_batch, &parts->input_feature}, parts->input_spatial);
  if (gradient) {
    changed |= LookThrough(parts->kernel, {&parts->kernel_input, &parts->kernel_output},
                           parts->kernel_spatial);
  }
  if (is_last(parts->input_spatial)) {
    gradient
        ? PutInOrder(parts->input, parts->input_feature, parts->input_spatial, parts->input_batch)
        : PutInOrder(parts->input, parts->input_batch, parts->input_spatial, parts->input_feature);
    changed = true;
  }
  if (gradient && is_last(parts->kernel_spatial)) {
    PutInOrder(parts->kernel, parts->kernel_input, parts->kernel_spatial, parts->kernel_output);
    changed = true;
  }
  const bool moved = is_last(parts->output_spatial);
  if (!changed && !moved) return nullptr;
  xla::ConvolutionDimensionNumbers numbers = root->convolution_dimension_numbers();
  numbers.set_input_batch_dimension(parts->input_batch);
  numbers.set_input_feature_dimension(parts->input_feature);
  numbers.set_kernel_input_feature_dimension(parts->kernel_input);
  numbers.set_kernel_output_feature_dimension(parts->kernel_output);
  absl::c_copy(parts->input_spatial, numbers.mutable_input_spatial_dimensions()->begin());
  absl::c_copy(parts->kernel_spatial, numbers.mutable_kernel_spatial_dimensions()->begin());
  Sizes order(last + 1),
      sizes(last + 1);  // of the result: where its dimensions are in what is made
  absl::c_iota(order, 0);
  if (moved) {
    const int64_t batch = gradient ? last - 1 : 0, spatial = gradient ? 0 : 1;
    numbers.set_output_batch_dimension(batch);
    numbers.set_output_feature_dimension(last);
    absl::c_iota(*numbers.mutable_output_spatial_dimensions(), spatial);
    order[parts->output_batch] = batch;
    order[parts->output_feature] = last;
    for (int64_t k = 0; k < parts->spatial(); ++k) order[parts->output_spatial[k]] = spatial + k;
  }
  for (int64_t d = 0; d <= last; ++d) sizes[order[d]] = root->shape().dimensions(d);
  HloInstruction* const made =
      Add(root,
          root->CloneWithNewOperands(xla::ShapeUtil::MakeShape(root->shape().element_type(), sizes),
                                     {parts->input, parts->kernel}));
  made->set_convolution_dimension_numbers(numbers);
  return emit::Transpose(made, order);
}

}  // namespace

std::vector<HloOpcode> FeaturesLastRoots() {
  std::vector<HloOpcode> roots = {
      HloOpcode::kConvolution,  HloOpcode::kTranspose,        HloOpcode::kReduce,
      HloOpcode::kReduceWindow, HloOpcode::kSelectAndScatter, HloOpcode::kPad,
      HloOpcode::kSlice,        HloOpcode::kConcatenate};
  absl::c_copy(emit::ElementwiseOpcodes(), std::back_inserter(roots));
  return roots;
}

HloInstruction* FeaturesLast(HloInstruction* root) {
  if (!IsArray(root->shape()) || !emit::Free(*root) || IsInOneKernel(*root->parent())) {
    return nullptr;
  }
  switch (root->opcode()) {
    case HloOpcode::kConvolution:
      return MovedConvolution(root);
    case HloOpcode::kTranspose:
      return MovedTranspose(root);
    case HloOpcode::kReduce:
      return MovedReduce(root);
    case HloOpcode::kReduceWindow:
      return MovedReduceWindow(root);
    case HloOpcode::kSelectAndScatter:
      return MovedSelectAndScatter(root);
    case HloOpcode::kPad:
      return MovedPad(root);
    case HloOpcode::kSlice:
      return MovedSlice(root);
    case HloOpcode::kConcatenate:
      return MovedConcatenate(root);
    default:
      return MovedElementwise(root);
  }
}

}  // namespace hone::compiler
