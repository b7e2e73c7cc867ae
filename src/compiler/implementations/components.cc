// Vectors of two to four, such as points, velocities and rows of small matrices, component by
// component. XLA:CPU's kernels go through an array's last dimension innermost, so that of vectors
// LLVM makes none of its own; it puts components together, as of a cross product, element by
// element, and takes them apart again.
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostComponents = 4;
constexpr int64_t kLeastElements = 4096;
constexpr int64_t kLongRow = 16;          // elements, at least
constexpr int kMostMade = 2000;           // instructions in place of one
constexpr int64_t kMostConstants = 4096;  // elements of a constant that is taken apart

bool IsFew(int64_t size) { return size >= 2 && size <= kMostComponents; }

// The dimension of a reshaped array that lies as this one does, within as much and around as much;
// kNone where there is none.
int64_t DimensionBefore(const HloInstruction& reshape, int64_t dimension) {
  const emit::Sizes sizes = reshape.shape().dimensions();
  const emit::Sizes before = reshape.operand(0)->shape().dimensions();
  const int64_t within = emit::Product(sizes.subspan(dimension + 1));
  int64_t inner = 1;
  for (auto d = static_cast<int64_t>(before.size()) - 1; d >= 0 && inner <= within; --d) {
    if (inner == within && before[d] == sizes[dimension]) return d;
    inner *= before[d];
  }
  return kNone;
}

// Whether a dimension is so far within that no vectors are made of what is within it.
bool IsInner(const HloInstruction& array, int64_t dimension) {
  return emit::Product(array.shape().dimensions().subspan(dimension + 1)) < kLongRow;
}

// The sizes of all dimensions but one.
Dimensions SizesWithout(const HloInstruction& array, int64_t dimension) {
  Dimensions sizes = emit::SizesOf(array);
  sizes.erase(sizes.begin() + dimension);
  return sizes;
}

// Numbers of dimensions where one is gone.
Dimensions Renumbered(emit::Sizes dimensions, int64_t gone) {
  Dimensions renumbered;
  for (const int64_t d : dimensions) {
    if (d != gone) renumbered.push_back(d - (d > gone ? 1 : 0));
  }
  return renumbered;
}

// What an operation on numbers gives; null where an operand is not one number everywhere.
HloInstruction* NumberFrom(HloInstruction* x, const std::vector<HloInstruction*>& operands) {
  std::vector<HloInstruction*> numbers;
  for (HloInstruction* operand : operands) {
    if (!NumberOf(*operand)) return nullptr;
    while (operand->opcode() != HloOpcode::kConstant) operand = operand->mutable_operand(0);
    absl::StatusOr<xla::Literal> number = operand->literal().Reshape({});
    if (!number.ok()) return nullptr;
    numbers.push_back(emit::Scalar(x->parent(), *std::move(number)));
  }
  HloInstruction* const here = x->parent()->AddInstruction(
      x->CloneWithNewOperands(xla::ShapeUtil::MakeShape(x->shape().element_type(), {}), numbers));
  absl::StatusOr<xla::Literal> value = xla::HloEvaluator(0).Evaluate(here);
  return value.ok() ? emit::Scalar(x->parent(), *std::move(value)) : nullptr;
}

// Arrays of which one dimension is gone, as what is at one place along it.
class Components {
 public:
  // Of one dimension less. Null where more would be made than is worth it.
  HloInstruction* Of(HloInstruction* x, int64_t dimension, int64_t place) {
    const auto [known, is_new] = made_.try_emplace({x, dimension, place}, nullptr);
    if (!is_new) return known->second;
    if (made_.size() > kMostMade) return nullptr;
    HloInstruction* const made = Make(x, dimension, place);
    return made_[{x, dimension, place}] = made;
  }

  // Operations on many elements that are done by components.
  int operations() const { return operations_; }
  // What was put together and spread that need not be.
  int saved() const { return saved_; }
  // That was put together along the dimension that is gone.
  int put_together() const { return put_together_; }

 private:
  using Key = std::tuple<HloInstruction*, int64_t, int64_t>;

  HloInstruction* Make(HloInstruction* x, int64_t dimension, int64_t place) {
    if (!emit::Free(*x)) return Taken(x, dimension, place);
    switch (x->opcode()) {
      case HloOpcode::kBroadcast:
        return OfBroadcast(x, dimension, place);
      case HloOpcode::kConcatenate:
        return OfConcatenate(x, dimension, place);
      case HloOpcode::kConstant:
        return OfConstant(x, dimension, place);
      case HloOpcode::kCopy:
        return Of(x->mutable_operand(0), dimension, place);
      case HloOpcode::kIota:
        return OfIota(x, dimension, place);
      case HloOpcode::kReshape: {
        const int64_t before = DimensionBefore(*x, dimension);
        if (before == kNone) return Taken(x, dimension, place);
        HloInstruction* const part = Of(x->mutable_operand(0), before, place);
        return part == nullptr ? nullptr : emit::Reshape(part, SizesWithout(*x, dimension));
      }
      case HloOpcode::kReverse: {
        const bool turned =
            Has(Dimensions(x->dimensions().begin(), x->dimensions().end()), dimension);
        if (x->dimensions().size() > 1 || !turned) return Taken(x, dimension, place);
        ++saved_;
        return Of(x->mutable_operand(0), dimension, x->shape().dimensions(dimension) - 1 - place);
      }
      case HloOpcode::kSlice:
        return OfSlice(x, dimension, place);
      case HloOpcode::kTranspose: {
        HloInstruction* const part = Of(x->mutable_operand(0), x->dimensions(dimension), place);
        if (part == nullptr) return nullptr;
        Dimensions order(x->dimensions().begin(), x->dimensions().end());
        order.erase(order.begin() + dimension);
        order = Renumbered(order, x->dimensions(dimension));
        return order == Range(0, RankOf(*part)) ? part : emit::Transpose(part, order);
      }
      default:
        if (x->opcode() != HloOpcode::kMap && x->opcode() != HloOpcode::kRng &&
            x->IsElementwise() && x->operand_count() > 0) {
          return OfElementwise(x, dimension, place);
        }
        return Taken(x, dimension, place);
    }
  }

  // As a slice of the whole.
  HloInstruction* Taken(HloInstruction* x, int64_t dimension, int64_t place) {
    return emit::Reshape(emit::SliceAlong(x, dimension, place, place + 1),
                         SizesWithout(*x, dimension));
  }

  HloInstruction* OfElementwise(HloInstruction* x, int64_t dimension, int64_t place) {
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : x->mutable_operands()) {
      const bool is_scalar = operand->shape().dimensions().empty();  // as a bound of clamp
      operands.push_back(is_scalar ? operand : Of(operand, dimension, place));
      if (operands.back() == nullptr) return nullptr;
    }
    if (xla::ShapeUtil::ElementsIn(x->shape()) >= kLeastElements) ++operations_;
    const Dimensions sizes = SizesWithout(*x, dimension);
    if (HloInstruction* const number = NumberFrom(x, operands)) {
      return emit::Broadcast(number, sizes, {});
    }
    for (const int k : {0, 1}) {
      if (x->opcode() == HloOpcode::kMultiply && NumberOf(*operands[k]) == 1) {
        return operands[1 - k];
      }
    }
    const xla::Shape shape = xla::ShapeUtil::MakeShape(x->shape().element_type(), sizes);
    return x->parent()->AddInstruction(x->CloneWithNewOperands(shape, operands));
  }

  HloInstruction* OfBroadcast(HloInstruction* x, int64_t dimension, int64_t place) {
    const auto given = x->dimensions();
    HloInstruction* part = x->mutable_operand(0);
    int64_t of_operand = kNone;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] == dimension) of_operand = static_cast<int64_t>(i);
    }
    ++saved_;
    if (of_operand != kNone) part = Of(part, of_operand, place);
    if (part == nullptr) return nullptr;
    const Dimensions sizes = SizesWithout(*x, dimension);
    const Dimensions at = Renumbered(given, dimension);
    if (sizes == emit::SizesOf(*part)) return part;
    // Read again and again: elements beside each other, not every third.
    const bool is_taken = part->opcode() == HloOpcode::kReshape &&
                          part->operand(0)->opcode() == HloOpcode::kSlice &&
                          xla::ShapeUtil::ElementsIn(part->shape()) > 1;
    return emit::Broadcast(is_taken ? emit::Kept(part) : part, sizes, at);
  }

  HloInstruction* OfConcatenate(HloInstruction* x, int64_t dimension, int64_t place) {
    const int64_t along = x->concatenate_dimension();
    if (along == dimension) {
      ++saved_;
      ++put_together_;
      for (HloInstruction* part : x->mutable_operands()) {
        const int64_t size = part->shape().dimensions(dimension);
        if (place < size) {
          return size == 1 ? emit::Reshape(part, SizesWithout(*part, dimension))
                           : Of(part, dimension, place);
        }
        place -= size;
      }
    }
    std::vector<HloInstruction*> parts;
    for (HloInstruction* part : x->mutable_operands()) {
      parts.push_back(Of(part, dimension, place));
      if (parts.back() == nullptr) return nullptr;
    }
    return emit::Concatenate(parts, along - (along > dimension ? 1 : 0));
  }

  HloInstruction* OfConstant(HloInstruction* x, int64_t dimension, int64_t place) {
    if (xla::ShapeUtil::ElementsIn(x->shape()) > kMostConstants) return Taken(x, dimension, place);
    Dimensions from(RankOf(*x), 0), to = emit::SizesOf(*x);
    from[dimension] = place;
    to[dimension] = place + 1;
    absl::StatusOr<xla::Literal> part =
        x->literal().Slice(from, to).Reshape(SizesWithout(*x, dimension));
    if (!part.ok()) return Taken(x, dimension, place);
    ++saved_;
    return x->parent()->AddInstruction(xla::HloInstruction::CreateConstant(*std::move(part)));
  }

  HloInstruction* OfIota(HloInstruction* x, int64_t dimension, int64_t place) {
    const int64_t along = xla::Cast<xla::HloIotaInstruction>(x)->iota_dimension();
    const xla::PrimitiveType type = x->shape().element_type();
    const Dimensions sizes = SizesWithout(*x, dimension);
    ++saved_;
    if (along != dimension) {
      return emit::Iota(x->parent(), type, sizes, along - (along > dimension ? 1 : 0));
    }
    return emit::Broadcast(emit::Number(x->parent(), type, place), sizes, {});
  }

  HloInstruction* OfSlice(HloInstruction* x, int64_t dimension, int64_t place) {
    HloInstruction* const whole = x->mutable_operand(0);
    place = x->slice_starts(dimension) + place * x->slice_strides(dimension);
    if (whole->shape().dimensions(dimension) > kMostComponents) ++saved_;
    HloInstruction* const part = Of(whole, dimension, place);
    if (part == nullptr) return nullptr;
    const auto others = [&](const std::vector<int64_t>& all) {
      Dimensions some(all.begin(), all.end());
      some.erase(some.begin() + dimension);
      return some;
    };
    const Dimensions starts = others(x->slice_starts()), limits = others(x->slice_limits()),
                     strides = others(x->slice_strides());
    if (emit::SizesOf(*part) == SizesWithout(*x, dimension)) return part;
    return emit::Slice(part, starts, limits, strides);
  }

  absl::flat_hash_map<Key, HloInstruction*> made_;
  int operations_ = 0, saved_ = 0, put_together_ = 0;
};

// The operation of a reduction of one array of many elements; nothing where it is none.
std::optional<HloOpcode> ReducesMany(const HloInstruction& root) {
  if (root.operand_count() != 2 ||
      xla::ShapeUtil::ElementsIn(root.operand(0)->shape()) < kLeastElements) {
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
  if (along == kNone) return nullptr;
  const xla::PrimitiveType type = root->shape().element_type();
  const xla::PrimitiveType work = emit::WorkType(*opcode, type);
  Components components;
  HloInstruction* sum = nullptr;
  for (int64_t place = 0; place < x->shape().dimensions(along); ++place) {
    HloInstruction* const part = components.Of(x, along, place);
    if (part == nullptr) return nullptr;
    sum = emit::AddTo(sum, emit::Convert(part, work), *opcode);
  }
  if (components.operations() == 0 || components.saved() == 0 ||
      (!IsInner(*x, along) && components.put_together() == 0)) {
    return nullptr;
  }
  const Dimensions rest = Renumbered(root->dimensions(), along);
  HloInstruction* const start = root->mutable_operand(1);
  if (!rest.empty()) return emit::Reduce(emit::Convert(sum, type), start, rest, *opcode);
  return emit::Convert(emit::WithStart(sum, start, *opcode), type);
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

// One component alone.
HloInstruction* OneComponent(HloInstruction* root) {
  HloInstruction* const x = root->mutable_operand(0);
  if (xla::ShapeUtil::ElementsIn(root->shape()) * kMostComponents < kLeastElements) return nullptr;
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

// Takes what was added, and is not taken by anything, away again.
absl::Status RemoveBehind(xla::HloComputation& computation, int64_t count) {
  std::vector<HloInstruction*> all(computation.instructions().begin(),
                                   computation.instructions().end());
  for (; static_cast<int64_t>(all.size()) > count; all.pop_back()) {
    TF_RETURN_IF_ERROR(computation.RemoveInstruction(all.back()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HloInstruction*> ComponentsApart(HloInstruction* root) {
  if (!emit::Free(*root) || IsInOneKernel(*root->parent())) return nullptr;
  xla::HloComputation& computation = *root->parent();
  const int64_t before = computation.instruction_count();
  HloInstruction* made = nullptr;
  if (root->opcode() == HloOpcode::kSlice) {
    made = OneComponent(root);
  } else {
    made = ReducedByComponents(root);
    if (made == nullptr) made = ReductionsOfComponents(root);
  }
  if (made == nullptr) TF_RETURN_IF_ERROR(RemoveBehind(computation, before));
  return made;
}

}  // namespace hone::compiler
