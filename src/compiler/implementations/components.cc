// Vectors of two to four, such as points, velocities and rows of small matrices, component by
// component. XLA:CPU's kernels go through an array's last dimension innermost, so that of vectors
// LLVM makes none of its own; it puts components together, as of a cross product, element by
// element, and takes them apart again.
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/component_values.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/sort_keys.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLongRow = 16;     // elements, at least
constexpr int kStepsToUser = 8;      // at most
constexpr int64_t kMuchLarger = 16;  // times

// Whether a dimension is so far within that no vectors are made of what is within it.
bool IsInner(const HloInstruction& array, int64_t dimension) {
  return emit::Product(array.shape().dimensions().subspan(dimension + 1)) < kLongRow;
}

// The operation of a reduction of one array of many elements; nothing where it is none.
std::optional<HloOpcode> ReducesMany(const HloInstruction& root) {
  if (root.operand_count() != 2 ||
      xla::ShapeUtil::ElementsIn(root.operand(0)->shape()) < kLeastOfComponents) {
    return std::nullopt;
  }
  return emit::ReducerOpcode(*root.to_apply());
}

// A sum, or the like, over the components of vectors.
HloInstruction* ReducedByComponents(HloInstruction* root) {
  const std::optional<HloOpcode> opcode = ReducesMany(*root);
  if (!opcode) return nullptr;
  HloInstruction* const x = root->mutable_operand(0);
  int64_t along = kNone;
  for (const int64_t d : root->dimensions()) {
    if (IsFew(x->shape().dimensions(d))) along = d;
  }
  const bool is_few = along != kNone;
  if (!is_few && root->dimensions().size() == 1 && IsInner(*x, root->dimensions(0)) &&
      x->shape().dimensions(root->dimensions(0)) <= kMostPlaces) {
    along = root->dimensions(0);
  }
  if (along == kNone) return nullptr;
  const xla::PrimitiveType type = root->shape().element_type();
  Components components;
  HloInstruction* const sum = components.Reduced(x, along, *opcode, type);
  if (sum == nullptr || components.operations() == 0 || components.saved() == 0 ||
      ((!is_few || !IsInner(*x, along)) && components.put_together() == 0)) {
    return nullptr;
  }
  const Dimensions rest = Renumbered(root->dimensions(), along);
  HloInstruction* const start = root->mutable_operand(1);
  if (!rest.empty()) return emit::Reduce(emit::Convert(sum, type), start, rest, *opcode);
  return emit::Convert(emit::WithStart(sum, start, *opcode), type);
}

// Several arrays reduced together, such as a maximum and where it is, over the components of
// vectors that are put together.
HloInstruction* ReducedTogether(HloInstruction* root) {
  const int64_t number = root->operand_count() / 2;
  if (number < 2 || root->dimensions().size() != 1) return nullptr;
  const HloComputation& reducer = *root->to_apply();
  const HloInstruction* const first = root->operand(0);
  const int64_t along = root->dimensions(0), size = first->shape().dimensions(along);
  if (size < 2 || size > kMostPlaces || !IsInner(*first, along) ||
      xla::ShapeUtil::ElementsIn(first->shape()) < kLeastOfComponents || !CanBeMapped(reducer)) {
    return nullptr;
  }
  const Dimensions sizes = SizesWithout(*first, along);
  std::vector<HloInstruction*> values;
  for (int64_t k = 0; k < number; ++k) {
    values.push_back(emit::Broadcast(root->mutable_operand(number + k), sizes, {}));
  }
  Components components;
  for (int64_t place = 0; place < size; ++place) {
    for (int64_t k = 0; k < number; ++k) {
      values.push_back(components.Of(root->mutable_operand(k), along, place));
      if (values.back() == nullptr) return nullptr;
    }
    std::map<const HloInstruction*, HloInstruction*> done;
    for (int64_t k = 0; k < 2 * number; ++k) done[reducer.parameter_instruction(k)] = values[k];
    std::vector<HloInstruction*> reduced;
    for (const HloInstruction* result : reducer.root_instruction()->operands()) {
      reduced.push_back(Mapped(*result, values[0], &done));
    }
    values = std::move(reduced);
  }
  if (components.operations() == 0 || components.put_together() == 0) return nullptr;
  return root->parent()->AddInstruction(HloInstruction::CreateTuple(values));
}

// Vectors that are sums, or the like, of vectors, put together from their components' sums; of
// matrices likewise, one dimension after the other.
HloInstruction* ReductionsOfComponents(HloInstruction* root) {
  const std::optional<HloOpcode> opcode = ReducesMany(*root);
  if (!opcode) return nullptr;
  HloInstruction* const x = root->mutable_operand(0);
  const Dimensions reduced(root->dimensions().begin(), root->dimensions().end());
  const Dimensions left = Without(*x, reduced);
  auto along = static_cast<int64_t>(left.size()) - 1;  // of the root
  while (along >= 0 && !IsFew(root->shape().dimensions(along))) --along;
  // A row of many is made vectors of as it is.
  if (along < 0 || (left[along] != RankOf(*x) - 1 && x->shape().dimensions().back() >= kLongRow)) {
    return nullptr;
  }
  Components components;
  Dimensions sizes = emit::SizesOf(*root);
  sizes[along] = 1;
  std::vector<HloInstruction*> parts;
  for (int64_t place = 0; place < root->shape().dimensions(along); ++place) {
    HloInstruction* const part = components.Of(x, left[along], place);
    if (part == nullptr) return nullptr;
    HloInstruction* sum =
        emit::Reduce(part, root->mutable_operand(1), Renumbered(reduced, left[along]), *opcode);
    HloInstruction* const further = ReductionsOfComponents(sum);
    parts.push_back(emit::Reshape(further != nullptr ? further : emit::Kept(sum), sizes));
  }
  if (components.operations() == 0 || components.saved() == 0) return nullptr;
  return emit::Concatenate(parts, along);
}

// Whether all that takes it takes one component.
bool IsTakenApart(const HloInstruction& x, int64_t dimension) {
  return absl::c_all_of(x.users(), [&](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kSlice && user->shape().dimensions(dimension) == 1;
  });
}

// Whether each element of it goes to many of a larger array.
bool IsSpread(const HloInstruction& x, int steps) {
  return absl::c_any_of(x.users(), [&](const HloInstruction* user) {
    if (!user->shape().IsArray()) return false;
    const int64_t times =
        xla::ShapeUtil::ElementsIn(user->shape()) / xla::ShapeUtil::ElementsIn(x.shape());
    const bool is_broadcast = user->opcode() == HloOpcode::kBroadcast;
    if (is_broadcast && times != 1) return times >= kMuchLarger;
    return steps > 0 &&
           (is_broadcast || user->opcode() == HloOpcode::kReshape || user->IsElementwise()) &&
           IsSpread(*user, steps - 1);
  });
}

// One component of vectors that lie in memory, copied from there before it is spread: kernels
// would read every third element again and again, and LLVM make no vectors of functions of them.
HloInstruction* CopiedBeforeSpread(HloInstruction* root) {
  const HloInstruction& x = *root->operand(0);
  const auto is_component = [&](int64_t d) {
    return IsFew(x.shape().dimensions(d)) && root->shape().dimensions(d) == 1 && IsInner(x, d);
  };
  const bool is_copied = absl::c_any_of(root->users(), [](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kAddDependency;
  });
  if (is_copied || !absl::c_any_of(Range(0, RankOf(x)), is_component) ||
      xla::ShapeUtil::ElementsIn(root->shape()) < kLongRow || !IsSpread(*root, kStepsToUser)) {
    return nullptr;
  }
  return emit::Kept(root->AddInstruction(root->Clone()));
}

// One component alone.
HloInstruction* OneComponent(HloInstruction* root) {
  HloInstruction* const x = root->mutable_operand(0);
  if (xla::ShapeUtil::ElementsIn(root->shape()) * kMostComponents < kLeastOfComponents)
    return nullptr;
  for (int64_t d = 0; d < RankOf(*x); ++d) {
    if (!IsFew(x->shape().dimensions(d)) || root->shape().dimensions(d) != 1 ||
        (!IsInner(*x, d) && !IsTakenApart(*x, d))) {
      continue;
    }
    Components components;
    HloInstruction* part = components.Of(x, d, root->slice_starts(d));
    if (part == nullptr || components.saved() == 0) continue;
    Dimensions sizes = emit::SizesOf(*x);
    sizes[d] = 1;
    part = emit::Reshape(part, sizes);
    if (sizes == emit::SizesOf(*root)) return part;
    Dimensions starts(root->slice_starts().begin(), root->slice_starts().end());
    Dimensions limits(root->slice_limits().begin(), root->slice_limits().end());
    starts[d] = 0;
    limits[d] = 1;
    return emit::Slice(part, starts, limits, root->slice_strides());
  }
  return nullptr;
}

// Whether what takes it may be done by components as well.
bool IsTakenIn(const HloInstruction& x, int steps) {
  return absl::c_any_of(x.users(), [&](const HloInstruction* user) {
    switch (user->opcode()) {
      case HloOpcode::kDot:
        return FewContracted(*user, 0) != kNone;
      case HloOpcode::kGather:
        return FewPlaces(*user) != kNone;
      case HloOpcode::kReduce:
        return absl::c_any_of(user->dimensions(), [&](int64_t d) {
          return user->operand(0)->shape().dimensions(d) <= kMostPlaces;
        });
      case HloOpcode::kSlice:
        return true;
      case HloOpcode::kConcatenate:
      case HloOpcode::kReshape:
      case HloOpcode::kTranspose:
        return steps > 0 && IsTakenIn(*user, steps - 1);
      default:
        return steps > 0 && user->IsElementwise() && IsTakenIn(*user, steps - 1);
    }
  });
}

// A dot that sums over components, or a choice of them, of what was put together or is such a dot
// as well: the vectors or small matrices that it makes are put together from their own.
HloInstruction* PutTogether(HloInstruction* root) {
  const emit::Sizes sizes = root->shape().dimensions();
  const bool is_dot = root->opcode() == HloOpcode::kDot;
  const bool is_known = is_dot ? FewContracted(*root, 0) != kNone : FewPlaces(*root) != kNone;
  if (!is_known || emit::Product(sizes) * (is_dot ? 1 : kMostComponents) < kLeastOfComponents ||
      IsTakenIn(*root, kStepsToUser)) {
    return nullptr;
  }
  int64_t first = RankOf(*root);  // of the dimensions of components
  while (first > 0 && sizes[first - 1] <= kMostComponents) --first;
  const int64_t number = emit::Product(sizes.subspan(first));
  if (number > kMostPlaces) return nullptr;
  Components components;
  std::vector<HloInstruction*> parts;
  Dimensions one(sizes.begin(), sizes.begin() + first);
  one.push_back(1);
  for (int64_t k = 0; k < number; ++k) {
    int64_t place = k;
    const auto next = [&](int64_t d) { return std::exchange(place, place / sizes[d]) % sizes[d]; };
    int64_t d = RankOf(*root) - 1;
    const bool is_whole = d < first;
    const int64_t at = is_whole ? kNone : d, here = is_whole ? 0 : next(d);
    HloInstruction* part =
        is_dot ? components.OfDot(root, at, here) : components.OfGather(root, at, here);
    for (--d; d >= first && part != nullptr; --d) part = components.Of(part, d, next(d));
    if (part == nullptr) return nullptr;
    if (number == 1) {
      parts.push_back(part);
    } else {
      parts.push_back(emit::Reshape(emit::Kept(part), one));
    }
  }
  // Each part is one that is saved.
  if (components.operations() == 0 || components.saved() <= number) return nullptr;
  return emit::Reshape(number == 1 ? parts[0] : emit::Concatenate(parts, first), sizes);
}

}  // namespace

absl::StatusOr<HloInstruction*> ComponentsApart(HloInstruction* root) {
  if (!emit::Free(*root) || IsInOneKernel(*root->parent())) return nullptr;
  HloComputation& computation = *root->parent();
  const int64_t before = computation.instruction_count();
  HloInstruction* made = nullptr;
  if (root->opcode() == HloOpcode::kSlice) {
    made = OneComponent(root);
    if (made == nullptr) {
      TF_RETURN_IF_ERROR(emit::RemoveBehind(computation, before));
      made = CopiedBeforeSpread(root);
    }
  } else if (root->opcode() == HloOpcode::kDot || root->opcode() == HloOpcode::kGather) {
    made = PutTogether(root);
  } else if (root->shape().IsTuple()) {
    made = ReducedTogether(root);
  } else {
    made = ReducedByComponents(root);
    if (made == nullptr) made = ReductionsOfComponents(root);
  }
  if (made == nullptr) TF_RETURN_IF_ERROR(emit::RemoveBehind(computation, before));
  return made;
}

}  // namespace hone::compiler
