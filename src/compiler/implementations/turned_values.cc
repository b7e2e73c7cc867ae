#include "compiler/implementations/turned_values.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The tuple that a loop begins with; null where it is no loop, or the tuple is not seen.
HloInstruction* StartOf(const HloInstruction& x) {
  const bool is_loop = x.opcode() == HloOpcode::kWhile;
  HloInstruction* const first = is_loop ? x.operands()[0] : nullptr;
  return first != nullptr && first->opcode() == HloOpcode::kTuple ? first : nullptr;
}

bool IsStart(const HloInstruction& tuple) {
  return tuple.opcode() == HloOpcode::kTuple && tuple.user_count() == 1 &&
         tuple.users()[0]->opcode() == HloOpcode::kWhile;
}

// Whether only sizes of 1 change places.
bool IsReshape(emit::Sizes sizes, const Dimensions& order) {
  Dimensions moved;
  for (const int64_t d : order) {
    if (sizes[d] != 1) moved.push_back(d);
  }
  return absl::c_is_sorted(moved);
}

// What is stacked along one dimension is stacked along another: XLA:CPU would copy it.
HloInstruction* Transposed(HloInstruction* x, const Dimensions& order) {
  if (order == Range(0, RankOf(*x))) return x;
  const auto reshaped = [&](HloInstruction* part) {
    Dimensions sizes;
    for (const int64_t d : order) sizes.push_back(part->shape().dimensions(d));
    return emit::Reshape(part, sizes);
  };
  if (IsReshape(x->shape().dimensions(), order)) return reshaped(x);
  if (x->opcode() != HloOpcode::kConcatenate ||
      !absl::c_all_of(x->operands(), [&](const HloInstruction* part) {
        return IsReshape(part->shape().dimensions(), order);
      })) {
    return emit::Transpose(x, order);
  }
  std::vector<HloInstruction*> parts;
  absl::c_transform(x->mutable_operands(), std::back_inserter(parts), reshaped);
  return emit::Concatenate(parts, absl::c_find(order, x->concatenate_dimension()) - order.begin());
}

bool IsElementwise(const HloInstruction& x) {
  return x.opcode() != HloOpcode::kMap && x.opcode() != HloOpcode::kRng && x.IsElementwise() &&
         x.operand_count() > 0 && x.shape().IsArray();
}

}  // namespace

int64_t PlaceTurned(int64_t place, int64_t dimension, int64_t rank) {
  if (place == dimension) return rank - 1;
  return place > dimension ? place - 1 : place;
}

Dimensions PlacesTurned(emit::Sizes dimensions, int64_t dimension, int64_t rank) {
  Dimensions turned;
  for (const int64_t d : dimensions) turned.push_back(PlaceTurned(d, dimension, rank));
  return turned;
}

Dimensions TurnedOrder(int64_t dimension, int64_t rank) {
  Dimensions order = Range(0, rank);
  std::rotate(order.begin() + dimension, order.begin() + dimension + 1, order.end());
  return order;
}

xla::Shape TurnedShape(const xla::Shape& shape, int64_t dimension) {
  return xla::ShapeUtil::MakeShape(shape.element_type(),
                                   ValuesTurned(shape.dimensions(), dimension));
}

HloInstruction* TurnedArray(HloInstruction* x, int64_t dimension) {
  return dimension == RankOf(*x) - 1 ? x : emit::Transpose(x, TurnedOrder(dimension, RankOf(*x)));
}

HloInstruction* TurnedBack(HloInstruction* turned, int64_t dimension) {
  const int64_t rank = RankOf(*turned);
  if (dimension == rank - 1) return turned;
  Dimensions order = Range(0, rank);
  std::rotate(order.begin() + dimension, order.end() - 1, order.end());
  return emit::Transpose(turned, order);
}

void TurnedValues::Know(HloInstruction* x, HloInstruction* turned, int64_t dimension) {
  forms_[x] = {turned, dimension};
  effort_->computed += emit::Product(emit::SizesOf(*turned));
}

int64_t TurnedValues::DimensionOf(const HloInstruction* x) const {
  const auto form = forms_.find(x);
  return form == forms_.end() ? kNone : form->second.dimension;
}

HloInstruction* TurnedValues::Back(HloInstruction* x) {
  const auto form = forms_.find(x);
  if (form == forms_.end()) return x;
  HloInstruction*& known = back_[x];
  if (known == nullptr) {
    known = TurnedBack(form->second.array, form->second.dimension);
    if (known != form->second.array) effort_->moved += emit::Product(emit::SizesOf(*known));
  }
  return known;
}

HloInstruction* TurnedValues::As(HloInstruction* x, int64_t dimension) {
  if (const auto form = forms_.find(x);
      form != forms_.end() && form->second.dimension == dimension) {
    return form->second.array;
  }
  if (const auto known = as_.find({x, dimension}); known != as_.end()) return known->second;
  HloInstruction* turned = nullptr;
  const int64_t rank = RankOf(*x);
  if (x->opcode() == HloOpcode::kBroadcast && absl::c_is_sorted(x->dimensions())) {
    const auto places_of = x->dimensions();
    const auto at = absl::c_find(places_of, dimension);
    HloInstruction* const before = x->mutable_operand(0);
    HloInstruction* const from =
        at == places_of.end() ? Back(before) : As(before, at - places_of.begin());
    Dimensions places = PlacesTurned(x->dimensions(), dimension, rank);
    absl::c_sort(places);  // the one that is moved comes last on both sides
    turned = emit::Broadcast(from, TurnedShape(x->shape(), dimension).dimensions(), places);
  } else if (x->opcode() == HloOpcode::kIota) {
    const int64_t along = xla::Cast<xla::HloIotaInstruction>(x)->iota_dimension();
    turned = emit::Iota(computation_, x->shape().element_type(),
                        TurnedShape(x->shape(), dimension).dimensions(),
                        PlaceTurned(along, dimension, rank));
  } else {
    turned = TurnedArray(Back(x), dimension);
    if (turned != x && x->opcode() != HloOpcode::kConstant) {
      effort_->moved += emit::Product(emit::SizesOf(*x));
    }
  }
  return as_[{x, dimension}] = turned;
}

bool TurnedValues::HasTurned(const HloInstruction& x) const {
  return absl::c_any_of(x.operands(), [&](const HloInstruction* operand) {
    return forms_.contains(operand) || tuples_.contains(operand);
  });
}

HloInstruction* TurnedValues::AsOrBack(HloInstruction* x, int64_t dimension) {
  return dimension == kNone ? Back(x) : As(x, dimension);
}

absl::Status TurnedValues::PutBack(HloInstruction* x) {
  for (int64_t k = 0; k < x->operand_count(); ++k) {
    TF_RETURN_IF_ERROR(x->ReplaceOperandWith(k, Back(x->mutable_operand(k))));
  }
  return absl::OkStatus();
}

absl::Status TurnedValues::GoOn() {
  for (HloInstruction* x : computation_->MakeInstructionPostOrder()) {
    if (forms_.contains(x) || x == computation_->root_instruction()) continue;
    // What a loop begins with is looked at together with the loop.
    HloInstruction* const first = StartOf(*x);
    if (IsStart(*x) || !HasTurned(first != nullptr ? *first : *x)) continue;
    TF_ASSIGN_OR_RETURN(const bool made, Make(x));
    if (!made) TF_RETURN_IF_ERROR(PutBack(first != nullptr ? first : x));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TurnedValues::Make(HloInstruction* x) {
  if (x->opcode() == HloOpcode::kGetTupleElement) {
    const auto& [tuple, dimensions] = tuples_.at(x->operand(0));
    const int64_t k = x->tuple_index();
    HloInstruction* const part = ElementOf(tuple, k);
    if (dimensions[k] != kNone) {
      Know(x, part, dimensions[k]);
    } else {
      TF_RETURN_IF_ERROR(x->ReplaceAllUsesWith(part));
    }
    return true;
  }
  if (x->opcode() == HloOpcode::kWhile) {
    Dimensions dimensions;
    TF_ASSIGN_OR_RETURN(HloInstruction* const loop, turn_loop_(x, *this, dimensions));
    if (loop != nullptr) tuples_[x] = {loop, dimensions};
    return loop != nullptr;
  }
  if (!emit::Free(*x)) return false;
  int64_t dimension = kNone;  // of the first operand that is turned
  for (const HloInstruction* operand : x->operands()) {
    if (dimension == kNone) dimension = DimensionOf(operand);
  }
  if (dimension == kNone) return false;
  const int64_t first = DimensionOf(x->operand(0));
  switch (x->opcode()) {
    case HloOpcode::kAddDependency:
      if (first == kNone) return false;
      Know(x, emit::Kept(As(x->mutable_operand(0), first)), first);
      return true;
    case HloOpcode::kBroadcast:
      return MakeBroadcast(x);
    case HloOpcode::kConcatenate: {
      std::vector<HloInstruction*> parts;
      for (HloInstruction* part : x->mutable_operands()) parts.push_back(As(part, dimension));
      const int64_t along = PlaceTurned(x->concatenate_dimension(), dimension, RankOf(*x));
      Know(x, emit::Concatenate(parts, along), dimension);
      return true;
    }
    case HloOpcode::kDot:
      return MakeDot(x);
    case HloOpcode::kDynamicSlice:
      return MakeDynamicSlice(x, first, 1);
    case HloOpcode::kDynamicUpdateSlice:
      return MakeDynamicSlice(x, dimension, 2);
    case HloOpcode::kGather:
      return MakeGather(x);
    case HloOpcode::kPad: {
      if (first == kNone) return false;
      Dimensions low, high, interior;
      for (const auto& edge : x->padding_config().dimensions()) {
        low.push_back(edge.edge_padding_low());
        high.push_back(edge.edge_padding_high());
        interior.push_back(edge.interior_padding());
      }
      Know(x,
           emit::Pad(As(x->mutable_operand(0), first), Back(x->mutable_operand(1)),
                     ValuesTurned(low, first), ValuesTurned(high, first),
                     ValuesTurned(interior, first)),
           first);
      return true;
    }
    case HloOpcode::kReduce:
      return MakeReduce(x, dimension);
    case HloOpcode::kReshape:
      return MakeReshape(x);
    case HloOpcode::kReverse:
      Know(x,
           computation_->AddInstruction(HloInstruction::CreateReverse(
               TurnedShape(x->shape(), first), As(x->mutable_operand(0), first),
               PlacesTurned(x->dimensions(), first, RankOf(*x)))),
           first);
      return true;
    case HloOpcode::kScatter:
      return MakeScatter(x);
    case HloOpcode::kSlice:
      Know(x,
           emit::Slice(As(x->mutable_operand(0), first), ValuesTurned(x->slice_starts(), first),
                       ValuesTurned(x->slice_limits(), first),
                       ValuesTurned(x->slice_strides(), first)),
           first);
      return true;
    case HloOpcode::kTranspose:
      return MakeTranspose(x);
    default:
      return IsElementwise(*x) && MakeElementwise(x, dimension);
  }
}

bool TurnedValues::MakeElementwise(HloInstruction* x, int64_t dimension) {
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : x->operands()) {
    const auto sizes = operand->shape().dimensions();
    if (!sizes.empty() && sizes != x->shape().dimensions()) return false;
    operands.push_back(sizes.empty() ? operand : As(operand, dimension));
  }
  Know(x,
       computation_->AddInstruction(
           x->CloneWithNewOperands(TurnedShape(x->shape(), dimension), operands)),
       dimension);
  return true;
}

bool TurnedValues::MakeBroadcast(HloInstruction* x) {
  const int64_t dimension = x->dimensions(DimensionOf(x->operand(0)));
  if (!absl::c_is_sorted(x->dimensions())) return false;
  Know(x, As(x, dimension), dimension);
  return true;
}

bool TurnedValues::MakeReshape(HloInstruction* x) {
  HloInstruction* const from = x->mutable_operand(0);
  const int64_t d = DimensionOf(from);
  const emit::Sizes before = from->shape().dimensions(), sizes = x->shape().dimensions();
  int64_t outer = 1;
  for (int64_t place = 0; place < RankOf(*x); outer *= sizes[place++]) {
    if (sizes[place] != before[d] || outer != emit::Product(before.subspan(0, d))) continue;
    Know(x, emit::Reshape(As(from, d), TurnedShape(x->shape(), place).dimensions()), place);
    return true;
  }
  return false;
}

bool TurnedValues::MakeTranspose(HloInstruction* x) {
  HloInstruction* const from = x->mutable_operand(0);
  const int64_t d = DimensionOf(from);
  const auto order_before = x->dimensions();
  const int64_t place = absl::c_find(order_before, d) - order_before.begin();
  const Dimensions order = PlacesTurned(ValuesTurned(x->dimensions(), place), d, RankOf(*x));
  Know(x, Transposed(As(from, d), order), place);
  return true;
}

bool TurnedValues::MakeDynamicSlice(HloInstruction* x, int64_t dimension, int arrays) {
  if (dimension == kNone || x->operand_count() != arrays + RankOf(*x)) return false;
  std::vector<HloInstruction*> starts;
  for (const int64_t d : TurnedOrder(dimension, RankOf(*x))) {
    starts.push_back(Back(x->mutable_operand(arrays + d)));
  }
  HloInstruction* const all = As(x->mutable_operand(0), dimension);
  if (arrays == 1) {
    const Dimensions sizes = ValuesTurned(x->dynamic_slice_sizes(), dimension);
    Know(x, emit::DynamicSlice(all, starts, sizes), dimension);
  } else {
    HloInstruction* const update = As(x->mutable_operand(1), dimension);
    Know(x, emit::DynamicUpdateSlice(all, update, starts), dimension);
  }
  return true;
}

absl::StatusOr<bool> TurnedValues::MakeReduce(HloInstruction* x, int64_t dimension) {
  const int64_t arrays = x->operand_count() / 2;
  const int64_t rank = RankOf(*x->operand(0));
  const bool over_it = absl::c_linear_search(x->dimensions(), dimension);
  if (x->shape().IsTuple() && !IsTakenApart(*x)) return false;
  int64_t place = dimension;  // of the result
  for (const int64_t d : x->dimensions()) place -= d < dimension ? 1 : 0;
  const auto shape_of = [&](const xla::Shape& shape) {
    return over_it ? shape : TurnedShape(shape, place);
  };
  xla::Shape shape = x->shape();
  if (shape.IsArray()) {
    shape = shape_of(shape);
  } else {
    for (xla::Shape& part : *shape.mutable_tuple_shapes()) part = shape_of(part);
  }
  std::vector<HloInstruction*> operands;
  for (int64_t k = 0; k < x->operand_count(); ++k) {
    HloInstruction* const operand = x->mutable_operand(k);
    operands.push_back(k < arrays ? As(operand, dimension) : operand);
  }
  HloInstruction* const made = computation_->AddInstruction(HloInstruction::CreateReduce(
      shape, absl::MakeSpan(operands).first(arrays), absl::MakeSpan(operands).last(arrays),
      PlacesTurned(x->dimensions(), dimension, rank), x->to_apply()));
  x->SetupDerivedInstruction(made);
  if (over_it) {
    TF_RETURN_IF_ERROR(x->ReplaceAllUsesWith(made));
  } else if (shape.IsArray()) {
    Know(x, made, place);
  } else {
    tuples_[x] = {made, Dimensions(arrays, place)};
  }
  return true;
}

}  // namespace hone::compiler
