#include "compiler/implementations/component_values.h"

#include <functional>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
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

constexpr int kMostMade = 8000;           // instructions in place of one
constexpr int64_t kMostConstants = 4096;  // elements of a constant that is taken apart

// The dimensions before a reshape that lie where this one does, within as much and around as much,
// slowest first; none where there are no such.
Dimensions DimensionsBefore(const HloInstruction& reshape, int64_t dimension) {
  const emit::Sizes sizes = reshape.shape().dimensions();
  const emit::Sizes before = reshape.operand(0)->shape().dimensions();
  const int64_t within = emit::Product(sizes.subspan(dimension + 1));
  int64_t inner = 1, size = 1;
  Dimensions found;
  for (auto d = static_cast<int64_t>(before.size()) - 1; d >= 0 && size < sizes[dimension]; --d) {
    if (inner < within) {
      inner *= before[d];
    } else if (inner == within && before[d] > 1) {
      size *= before[d];
      found.insert(found.begin(), d);
    }
  }
  return inner == within && size == sizes[dimension] ? found : Dimensions();
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

bool IsLarge(const HloInstruction& array) {
  return xla::ShapeUtil::ElementsIn(array.shape()) >= kLeastOfComponents;
}

}  // namespace

bool IsFew(int64_t size) { return size >= 2 && size <= kMostComponents; }

Dimensions SizesWithout(const HloInstruction& array, int64_t dimension) {
  Dimensions sizes = emit::SizesOf(array);
  sizes.erase(sizes.begin() + dimension);
  return sizes;
}

Dimensions Renumbered(emit::Sizes dimensions, int64_t gone) {
  Dimensions renumbered;
  for (const int64_t d : dimensions) {
    if (d != gone) renumbered.push_back(d - (d > gone ? 1 : 0));
  }
  return renumbered;
}

HloInstruction* Components::Of(HloInstruction* x, int64_t dimension, int64_t place) {
  const auto [known, is_new] = made_.try_emplace({x, dimension, place}, nullptr);
  if (!is_new) return known->second;
  if (made_.size() > kMostMade) return nullptr;
  HloInstruction* const made = Make(x, dimension, place);
  return made_[{x, dimension, place}] = made;
}

HloInstruction* Components::Make(HloInstruction* x, int64_t dimension, int64_t place) {
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
    case HloOpcode::kGather: {
      HloInstruction* const part = OfGather(x, dimension, place);
      return part != nullptr ? part : Taken(x, dimension, place);
    }
    case HloOpcode::kIota:
      return OfIota(x, dimension, place);
    case HloOpcode::kDot: {
      HloInstruction* const part = OfDot(x, dimension, place);
      return part != nullptr ? part : Taken(x, dimension, place);
    }
    case HloOpcode::kReduce:
      return OfReduce(x, dimension, place);
    case HloOpcode::kReshape:
      return OfReshape(x, dimension, place);
    case HloOpcode::kReverse: {
      const bool turned =
          Has(Dimensions(x->dimensions().begin(), x->dimensions().end()), dimension);
      if (x->dimensions().size() > 1 || !turned) return Taken(x, dimension, place);
      ++saved_;
      return Of(x->mutable_operand(0), dimension, x->shape().dimensions(dimension) - 1 - place);
    }
    case HloOpcode::kSlice:
      return OfSlice(x, dimension, place);
    case HloOpcode::kTranspose:
      return OfTranspose(x, dimension, place);
    default:
      if (x->opcode() != HloOpcode::kMap && x->opcode() != HloOpcode::kRng && x->IsElementwise() &&
          x->operand_count() > 0) {
        return OfElementwise(x, dimension, place);
      }
      return Taken(x, dimension, place);
  }
}

HloInstruction* Components::Taken(HloInstruction* x, int64_t dimension, int64_t place) {
  return emit::Reshape(emit::SliceAlong(x, dimension, place, place + 1),
                       SizesWithout(*x, dimension));
}

HloInstruction* Components::OfElementwise(HloInstruction* x, int64_t dimension, int64_t place) {
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : x->mutable_operands()) {
    const bool is_scalar = operand->shape().dimensions().empty();  // as a bound of clamp
    operands.push_back(is_scalar ? operand : Of(operand, dimension, place));
    if (operands.back() == nullptr) return nullptr;
  }
  if (IsLarge(*x)) ++operations_;
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

HloInstruction* Components::OfBroadcast(HloInstruction* x, int64_t dimension, int64_t place) {
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

HloInstruction* Components::OfConcatenate(HloInstruction* x, int64_t dimension, int64_t place) {
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

HloInstruction* Components::OfConstant(HloInstruction* x, int64_t dimension, int64_t place) {
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

HloInstruction* Components::OfIota(HloInstruction* x, int64_t dimension, int64_t place) {
  const int64_t along = xla::Cast<xla::HloIotaInstruction>(x)->iota_dimension();
  const xla::PrimitiveType type = x->shape().element_type();
  const Dimensions sizes = SizesWithout(*x, dimension);
  ++saved_;
  if (along != dimension) {
    return emit::Iota(x->parent(), type, sizes, along - (along > dimension ? 1 : 0));
  }
  return emit::Broadcast(emit::Number(x->parent(), type, place), sizes, {});
}

HloInstruction* Components::OfSlice(HloInstruction* x, int64_t dimension, int64_t place) {
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

HloInstruction* Components::Reduced(HloInstruction* x, int64_t along, HloOpcode opcode,
                                    xla::PrimitiveType type) {
  HloInstruction* sum = nullptr;
  for (int64_t place = 0; place < x->shape().dimensions(along); ++place) {
    HloInstruction* const part = Of(x, along, place);
    if (part == nullptr) return nullptr;
    sum = emit::AddTo(sum, emit::Convert(part, emit::WorkType(opcode, type)), opcode);
  }
  return sum;
}

// Of a sum, or the like, over components of other vectors.
HloInstruction* Components::OfReduce(HloInstruction* x, int64_t dimension, int64_t place) {
  if (x->operand_count() != 2 || x->dimensions().size() != 1) return Taken(x, dimension, place);
  const std::optional<HloOpcode> opcode = emit::ReducerOpcode(*x->to_apply());
  HloInstruction* const all = x->mutable_operand(0);
  const int64_t along = x->dimensions(0);
  if (!opcode || !IsFew(all->shape().dimensions(along))) return Taken(x, dimension, place);
  const int64_t before = dimension + (dimension >= along ? 1 : 0);
  const xla::PrimitiveType type = x->shape().element_type();
  HloInstruction* const vectors = Of(all, before, place);
  if (vectors == nullptr) return nullptr;
  HloInstruction* const sum = Reduced(vectors, along - (along > before ? 1 : 0), *opcode, type);
  if (sum == nullptr) return nullptr;
  ++saved_;
  return emit::Convert(emit::WithStart(sum, x->mutable_operand(1), *opcode), type);
}

int64_t FewContracted(const HloInstruction& dot, int side) {
  const DotSide dimensions = DotSideOf(dot, side);
  if (dimensions.contracted.size() != 1) return kNone;
  const int64_t d = dimensions.contracted[0];
  return IsFew(dot.operand(side)->shape().dimensions(d)) ? d : kNone;
}

HloInstruction* Components::OfDot(HloInstruction* dot, int64_t dimension, int64_t place) {
  const int64_t contracted = FewContracted(*dot, 0);
  if (contracted == kNone) return nullptr;
  const Dimensions sizes = dimension == kNone ? emit::SizesOf(*dot) : SizesWithout(*dot, dimension);
  const xla::PrimitiveType type = dot->shape().element_type(), work = emit::SumType(type);
  // Of one side at a place of what is summed over: as large as the result.
  const auto factor = [&](int side, int64_t k) -> HloInstruction* {
    const DotSide mine = DotSideOf(*dot, side);
    HloInstruction* part = dot->mutable_operand(side);
    Dimensions order = mine.batch, at = Range(0, static_cast<int64_t>(mine.batch.size()));
    const auto others = side == 0 ? 0 : DotSideOf(*dot, 0).free.size();
    for (size_t i = 0; i < mine.free.size(); ++i) {
      order.push_back(mine.free[i]);
      at.push_back(static_cast<int64_t>(mine.batch.size() + others + i));
    }
    std::vector<std::pair<int64_t, int64_t>> gone = {{mine.contracted[0], k}};
    if (const auto one = absl::c_find(at, dimension); one != at.end()) {
      gone.insert(gone.begin(), {order[one - at.begin()], place});
      order.erase(order.begin() + (one - at.begin()));
      at.erase(one);
    }
    absl::c_sort(gone, std::greater<>());  // the last first: others keep their numbers
    for (const auto& [d, index] : gone) {
      part = Of(part, d, index);
      if (part == nullptr) return nullptr;
      order = Renumbered(order, d);
    }
    if (dimension != kNone) at = Renumbered(at, dimension);
    if (!absl::c_is_sorted(order)) part = emit::Transpose(part, order);
    part = emit::Convert(part, work);
    return emit::SizesOf(*part) == sizes ? part : emit::Broadcast(part, sizes, at);
  };
  HloInstruction* sum = nullptr;
  for (int64_t k = 0; k < dot->operand(0)->shape().dimensions(contracted); ++k) {
    HloInstruction* const x = factor(0, k);
    HloInstruction* const y = x == nullptr ? nullptr : factor(1, k);
    if (y == nullptr) return nullptr;
    sum = emit::AddTo(sum, emit::Binary(HloOpcode::kMultiply, x, y));
  }
  ++saved_;
  if (IsLarge(*dot)) ++operations_;
  return emit::Convert(sum, type);
}

int64_t FewPlaces(const HloInstruction& gather) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  const emit::Sizes sizes = gather.operand(0)->shape().dimensions();
  const emit::Sizes taken = gather.gather_slice_sizes();
  const int64_t batch = numbers.operand_batching_dims_size();
  if (numbers.index_vector_dim() != batch || RankOf(*gather.operand(1)) != batch + 1 ||
      !emit::InOrder(numbers.operand_batching_dims(), 0, batch) ||
      !emit::InOrder(numbers.start_indices_batching_dims(), 0, batch) ||
      !emit::InOrder(numbers.offset_dims(), batch, RankOf(gather))) {
    return kNone;
  }
  int64_t found = kNone;
  for (auto d = batch; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (taken[d] == sizes[d]) continue;
    if (found != kNone || taken[d] != 1 || sizes[d] > kMostPlaces) return kNone;
    found = d;
  }
  return found;
}

HloInstruction* Components::OfGather(HloInstruction* gather, int64_t dimension, int64_t place) {
  const int64_t along = FewPlaces(*gather);
  if (along == kNone) return nullptr;
  const xla::GatherDimensionNumbers& numbers = gather->gather_dimension_numbers();
  HloInstruction* const all = gather->mutable_operand(0);
  const int64_t batch = numbers.operand_batching_dims_size();
  const auto collapsed = numbers.collapsed_slice_dims();
  // Of the operand, that the result's dimension is.
  int64_t before = dimension;
  for (const int64_t d : collapsed) before += before != kNone && before >= d ? 1 : 0;
  const Dimensions sizes =
      dimension == kNone ? emit::SizesOf(*gather) : SizesWithout(*gather, dimension);
  const int64_t component =
      absl::c_find(numbers.start_index_map(), along) - numbers.start_index_map().begin();
  HloInstruction* index =
      emit::SliceAlong(gather->mutable_operand(1), batch, component, component + 1);
  index = emit::Reshape(index, SizesWithout(*index, batch));
  if (before < batch && before != kNone) index = Of(index, before, place);
  HloInstruction* value = nullptr;
  for (int64_t k = 0; k < all->shape().dimensions(along); ++k) {
    HloInstruction* part = Of(all, along, k);
    const bool remains = before != kNone && before != along;
    if (part != nullptr && remains) part = Of(part, before - (before > along ? 1 : 0), place);
    if (part == nullptr || index == nullptr) return nullptr;
    if (value == nullptr) {
      value = part;
      continue;
    }
    HloInstruction* const spread =
        emit::Broadcast(index, emit::SizesOf(*part), Range(0, RankOf(*index)));
    HloInstruction* const number = emit::NumberLike(spread, spread->shape().element_type(), k);
    value = emit::Select(emit::Compare(xla::ComparisonDirection::kGe, spread, number), part, value);
  }
  return emit::Reshape(value, sizes);
}

HloInstruction* Components::OfTranspose(HloInstruction* x, int64_t dimension, int64_t place) {
  HloInstruction* const part = Of(x->mutable_operand(0), x->dimensions(dimension), place);
  if (part == nullptr) return nullptr;
  Dimensions order(x->dimensions().begin(), x->dimensions().end());
  order.erase(order.begin() + dimension);
  order = Renumbered(order, x->dimensions(dimension));
  return order == Range(0, RankOf(*part)) ? part : emit::Transpose(part, order);
}

HloInstruction* Components::OfReshape(HloInstruction* x, int64_t dimension, int64_t place) {
  HloInstruction* part = x->mutable_operand(0);
  const Dimensions before = DimensionsBefore(*x, dimension);
  for (size_t k = before.size(); k-- > 0 && part != nullptr;) {
    const int64_t size = x->operand(0)->shape().dimensions(before[k]);
    part = Of(part, before[k], place % size);
    place /= size;
  }
  if (part == nullptr) return nullptr;
  if (!before.empty()) return emit::Reshape(part, SizesWithout(*x, dimension));
  // The first or the last of those that one dimension became.
  const emit::Sizes sizes = x->shape().dimensions();
  const int64_t size = sizes[dimension];
  const int64_t around = emit::Product(sizes.subspan(0, dimension));
  const int64_t within = emit::Product(sizes.subspan(dimension + 1));
  const Dimensions whole = emit::SizesOf(*x->operand(0));
  int64_t inner = emit::Product(whole), outer = 1;
  for (size_t d = 0; d < whole.size(); outer *= whole[d++]) {
    inner /= whole[d];
    const bool is_first = outer == around && inner < within;
    const bool is_last = inner == within && outer < around;
    if (whole[d] % size != 0 || !(is_first || is_last)) continue;
    Dimensions from(whole.size(), 0), to = whole, steps(whole.size(), 1);
    from[d] = is_first ? place * (whole[d] / size) : place;
    if (is_first) to[d] = from[d] + whole[d] / size;
    if (is_last) steps[d] = size;
    return emit::Reshape(emit::Slice(x->mutable_operand(0), from, to, steps),
                         SizesWithout(*x, dimension));
  }
  return Taken(x, dimension, place);
}

}  // namespace hone::compiler
