#include "compiler/implementations/all_trips.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

Dimensions Shifted(Dimensions dimensions) {
  for (int64_t& d : dimensions) ++d;
  return dimensions;
}

Dimensions ShiftedBehindFirst(const Dimensions& dimensions) {
  return Behind(0, Shifted(dimensions));
}

}  // namespace

xla::Shape AllTrips::ShapeOf(const HloInstruction& value) const {
  return xla::ShapeUtil::MakeShape(value.shape().element_type(),
                                   Behind(loop_->trips(), emit::SizesOf(value)));
}

HloInstruction* AllTrips::LiftedDot(HloInstruction* dot) {
  const xla::PrimitiveType type = dot->shape().element_type();
  const std::optional<int> weights = loop_->InvariantSideOf(*dot);
  const DotSide sides[] = {DotSideOf(*dot, 0), DotSideOf(*dot, 1)};
  if (!weights) {
    return emit::Dot(Of(dot->mutable_operand(0)), Of(dot->mutable_operand(1)),
                     ShiftedBehindFirst(sides[0].batch), ShiftedBehindFirst(sides[1].batch),
                     Shifted(sides[0].contracted), Shifted(sides[1].contracted), type,
                     dot->precision_config());
  }
  // The trips are one dimension more of the rows, which come first.
  const DotSide& rows = sides[1 - *weights];
  const DotSide& columns = sides[*weights];
  HloInstruction* const product =
      emit::Dot(Of(dot->mutable_operand(1 - *weights)),
                loop_->Before(dot->mutable_operand(*weights)), Shifted(rows.batch), columns.batch,
                Shifted(rows.contracted), columns.contracted, type, dot->precision_config());
  const auto count = [](const Dimensions& dimensions) {
    return static_cast<int64_t>(dimensions.size());
  };
  const int64_t trips = count(rows.batch);
  Dimensions order = Behind(trips, Range(0, trips));
  Dimensions of_rows = Range(trips + 1, count(rows.free));
  Dimensions of_columns = Range(trips + 1 + count(rows.free), count(columns.free));
  if (*weights == 0) std::swap(of_rows, of_columns);
  absl::c_copy(of_rows, std::back_inserter(order));
  absl::c_copy(of_columns, std::back_inserter(order));
  return absl::c_is_sorted(order) ? product : emit::Transpose(product, order);
}

HloInstruction* AllTrips::Lifted(HloInstruction* value) {
  HloComputation* const computation = loop_->whole()->parent();
  const xla::Shape shape = ShapeOf(*value);
  switch (value->opcode()) {
    case HloOpcode::kDot:
      return LiftedDot(value);
    case HloOpcode::kBroadcast:
      return emit::Broadcast(
          Of(value->mutable_operand(0)), shape.dimensions(),
          ShiftedBehindFirst({value->dimensions().begin(), value->dimensions().end()}));
    case HloOpcode::kReshape:
      return emit::Reshape(Of(value->mutable_operand(0)), shape.dimensions());
    case HloOpcode::kTranspose:
      return emit::Transpose(
          Of(value->mutable_operand(0)),
          ShiftedBehindFirst({value->dimensions().begin(), value->dimensions().end()}));
    case HloOpcode::kSlice:
      return emit::Slice(
          Of(value->mutable_operand(0)),
          Behind(0, {value->slice_starts().begin(), value->slice_starts().end()}),
          Behind(loop_->trips(), {value->slice_limits().begin(), value->slice_limits().end()}),
          Behind(1, {value->slice_strides().begin(), value->slice_strides().end()}));
    case HloOpcode::kPad: {
      Dimensions low = {0}, high = {0}, interior = {0};
      for (const auto& dimension : value->padding_config().dimensions()) {
        low.push_back(dimension.edge_padding_low());
        high.push_back(dimension.edge_padding_high());
        interior.push_back(dimension.interior_padding());
      }
      return emit::Pad(Of(value->mutable_operand(0)), loop_->Before(value->mutable_operand(1)), low,
                       high, interior);
    }
    case HloOpcode::kReduce:
      return computation->AddInstruction(HloInstruction::CreateReduce(
          shape, Of(value->mutable_operand(0)), loop_->Before(value->mutable_operand(1)),
          Shifted({value->dimensions().begin(), value->dimensions().end()}), value->to_apply()));
    case HloOpcode::kConcatenate: {
      std::vector<HloInstruction*> parts;
      for (HloInstruction* operand : value->operands()) parts.push_back(Of(operand));
      return emit::Concatenate(parts, value->concatenate_dimension() + 1);
    }
    default: {
      std::vector<HloInstruction*> operands;
      for (HloInstruction* operand : value->operands()) operands.push_back(Of(operand));
      return computation->AddInstruction(value->CloneWithNewOperands(shape, operands));
    }
  }
}

HloInstruction* AllTrips::Of(HloInstruction* value) {
  const auto known = known_.find(value);
  if (known != known_.end()) return known->second;
  HloInstruction* all = nullptr;
  if (loop_->IsInvariant(*value)) {
    all = emit::Broadcast(loop_->Before(value), ShapeOf(*value).dimensions(),
                          Range(1, RankOf(*value)));
  } else if (value->opcode() == HloOpcode::kDynamicSlice) {
    all = emit::Reshape(loop_->Before(value->mutable_operand(0)), ShapeOf(*value).dimensions());
  } else {
    all = Lifted(value);
  }
  return known_[value] = all;
}

HloInstruction* AllTrips::SummedDot(HloInstruction* dot) {
  HloInstruction* operands[] = {Of(dot->mutable_operand(0)), Of(dot->mutable_operand(1))};
  DotSide sides[] = {DotSideOf(*dot, 0), DotSideOf(*dot, 1)};
  // What is summed over comes first, as it mostly does: trips and terms are one dimension, for XLA
  // turns an operand round that it sums over two dimensions of.
  const bool first = absl::c_all_of(sides, [](const DotSide& side) {
    return side.batch.empty() && side.contracted == Range(0, side.contracted.size());
  });
  for (int k : {0, 1}) {
    DotSide& side = sides[k];
    if (first) {
      Dimensions sizes = SizesAt(*operands[k], Shifted(side.free));
      const int64_t terms = xla::ShapeUtil::ElementsIn(operands[k]->shape()) / emit::Product(sizes);
      operands[k] = emit::Reshape(operands[k], Behind(terms, sizes));
      side.contracted = {0};
    } else {
      side.contracted = ShiftedBehindFirst(side.contracted);
    }
  }
  return emit::Dot(operands[0], operands[1], Shifted(sides[0].batch), Shifted(sides[1].batch),
                   sides[0].contracted, sides[1].contracted, dot->shape().element_type(),
                   dot->precision_config());
}

HloInstruction* AllTrips::SumOf(HloInstruction* value) {
  if (value->opcode() == HloOpcode::kDot) return SummedDot(value);
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : value->operands()) {
    operands.push_back(loop_->IsInvariant(*operand) ? loop_->Before(operand) : SumOf(operand));
  }
  HloInstruction* const sum = loop_->whole()->parent()->AddInstruction(
      value->CloneWithNewOperands(value->shape(), operands));
  sum->set_metadata({});  // what was in the loop is no more
  return sum;
}

}  // namespace hone::compiler
