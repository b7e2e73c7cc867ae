// Which instructions can compute several lanes at once, and how (lane_form.h).
#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "compiler/opcodes.h"
#include "compiler/rules/lane_form.h"
#include "compiler/xla_names.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/protobuf_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using Forms = std::vector<int>;

// Element by element, without attributes other than those that SameAttributes compares.
bool IsElementwise(HloOpcode opcode) {
  return IsOneOf<HloOpcode::kAbs, HloOpcode::kAdd, HloOpcode::kAnd, HloOpcode::kAtan2,
                 HloOpcode::kCbrt, HloOpcode::kCeil, HloOpcode::kClamp, HloOpcode::kCompare,
                 HloOpcode::kConvert, HloOpcode::kCos, HloOpcode::kDivide, HloOpcode::kErf,
                 HloOpcode::kExp, HloOpcode::kExpm1, HloOpcode::kFloor, HloOpcode::kIsFinite,
                 HloOpcode::kLog, HloOpcode::kLog1p, HloOpcode::kLogistic, HloOpcode::kMaximum,
                 HloOpcode::kMinimum, HloOpcode::kMultiply, HloOpcode::kNegate, HloOpcode::kNot,
                 HloOpcode::kOr, HloOpcode::kPower, HloOpcode::kRemainder,
                 HloOpcode::kRoundNearestAfz, HloOpcode::kRoundNearestEven, HloOpcode::kRsqrt,
                 HloOpcode::kSelect, HloOpcode::kShiftLeft, HloOpcode::kShiftRightArithmetic,
                 HloOpcode::kShiftRightLogical, HloOpcode::kSign, HloOpcode::kSin, HloOpcode::kSqrt,
                 HloOpcode::kSubtract, HloOpcode::kTan, HloOpcode::kTanh, HloOpcode::kXor>(opcode);
}

int64_t Rank(const HloInstruction* instruction) {
  return static_cast<int64_t>(instruction->shape().dimensions().size());
}

// The lanes do the same but for the sizes of their tensors.
bool SameKind(const Lanes& lanes) {
  const HloInstruction* first = lanes[0];
  for (const HloInstruction* lane : lanes) {
    if (lane->opcode() != first->opcode() || lane->operand_count() != first->operand_count() ||
        lane->shape().element_type() != first->shape().element_type() ||
        lane->parent() != first->parent() || lane->has_sharding() ||
        lane->has_frontend_attributes() || lane->has_backend_config() ||
        lane->has_result_accuracy() || lane->HasControlDependencies() || lane->IsDead()) {
      return false;
    }
    for (int64_t i = 0; i < first->operand_count(); ++i) {
      const Shape& shape = lane->operand(i)->shape();
      if (!shape.IsArray() || !shape.is_static() ||
          shape.element_type() != first->operand(i)->shape().element_type() ||
          shape.dimensions().size() != first->operand(i)->shape().dimensions().size()) {
        return false;
      }
    }
  }
  return true;
}

template <typename Predicate>
bool All(const Lanes& lanes, Predicate predicate) {
  return absl::c_all_of(lanes, predicate);
}

Lanes Operands(const Lanes& lanes, int64_t i) {
  Lanes operands;
  for (HloInstruction* lane : lanes) operands.push_back(lane->mutable_operand(i));
  return operands;
}

bool AllSame(const Lanes& lanes) {
  return All(lanes, [&](const HloInstruction* lane) { return SameValue(lane, lanes[0]); });
}

std::optional<Forms> Elementwise(const Lanes& lanes, int form) {
  const HloInstruction* first = lanes[0];
  for (const HloInstruction* lane : lanes) {
    for (const HloInstruction* operand : lane->operands()) {
      if (!ShapeUtil::SameDimensions(operand->shape(), lane->shape())) return std::nullopt;
    }
    if (first->opcode() == HloOpcode::kCompare &&
        (lane->comparison_direction() != first->comparison_direction() ||
         lane->comparison_order() != first->comparison_order())) {
      return std::nullopt;
    }
  }
  return Forms(first->operand_count(), form);
}

// Reshapes that leave dimension `form` and the number of elements before and after it alone.
std::optional<Forms> ThroughReshape(const Lanes& lanes, int form) {
  if (form == kStacked) {
    if (!Joinable(Operands(lanes, 0), kStacked)) return std::nullopt;
    return Forms{kStacked};
  }
  if (form < 0) return std::nullopt;
  const auto before = [](const Shape& shape, int64_t dimension) {
    return std::accumulate(shape.dimensions().begin(), shape.dimensions().begin() + dimension,
                           int64_t{1}, std::multiplies<>());
  };
  for (int64_t dimension = 0; dimension < Rank(lanes[0]->operand(0)); ++dimension) {
    const bool all = All(lanes, [&](const HloInstruction* lane) {
      const Shape& from = lane->operand(0)->shape();
      return from.dimensions(dimension) == lane->shape().dimensions(form) &&
             before(from, dimension) == before(lane->shape(), form);
    });
    if (all && Joinable(Operands(lanes, 0), static_cast<int>(dimension))) {
      return Forms{static_cast<int>(dimension)};
    }
  }
  return std::nullopt;
}

std::optional<Forms> ThroughReduce(const Lanes& lanes, int form) {
  const HloInstruction* first = lanes[0];
  if (first->operand_count() != 2 || form == kFlattened) return std::nullopt;
  const bool same = All(lanes, [&](const HloInstruction* lane) {
    return lane->dimensions() == first->dimensions() &&
           SameValue(lane->operand(1), first->operand(1)) &&
           (lane->to_apply() == first->to_apply() || *lane->to_apply() == *first->to_apply());
  });
  if (!same) return std::nullopt;
  if (form == kStacked) return Forms{kStacked, kAsItIs};
  int64_t kept = -1;
  for (int64_t dimension = 0; dimension < Rank(first->operand(0)); ++dimension) {
    if (absl::c_linear_search(first->dimensions(), dimension)) continue;
    if (++kept == form) return Forms{static_cast<int>(dimension), kAsItIs};
  }
  return std::nullopt;
}

std::optional<Forms> ThroughSlice(const Lanes& lanes, int form) {
  const HloInstruction* first = lanes[0];
  if (form == kFlattened) return std::nullopt;
  const bool same = All(lanes, [&](const HloInstruction* lane) {
    for (int i = 0; i < Rank(lane); ++i) {
      if (i == form) {
        if (!ShapeUtil::SameDimensions(lane->operand(0)->shape(), lane->shape()) &&
            (lane->slice_starts(i) != 0 || lane->slice_strides(i) != 1 ||
             lane->slice_limits(i) != lane->operand(0)->shape().dimensions(i))) {
          return false;
        }
      } else if (lane->slice_starts(i) != first->slice_starts(i) ||
                 lane->slice_limits(i) != first->slice_limits(i) ||
                 lane->slice_strides(i) != first->slice_strides(i)) {
        return false;
      }
    }
    return true;
  });
  if (!same) return std::nullopt;
  return Forms{form};
}

std::optional<Forms> ThroughDot(const Lanes& lanes, int form) {
  const HloInstruction* first = lanes[0];
  if (form == kFlattened) return std::nullopt;
  const auto& numbers = first->dot_dimension_numbers();
  const bool same = All(lanes, [&](const HloInstruction* lane) {
    return xla::protobuf_util::HaveSameSerialization(lane->dot_dimension_numbers(), numbers) &&
           xla::protobuf_util::HaveSameSerialization(lane->precision_config(),
                                                     first->precision_config());
  });
  if (!same) return std::nullopt;
  if (form == kStacked) return Forms{kStacked, kStacked};
  const int64_t batches = numbers.lhs_batch_dimensions_size();
  if (form < batches) {
    return Forms{static_cast<int>(numbers.lhs_batch_dimensions(form)),
                 static_cast<int>(numbers.rhs_batch_dimensions(form))};
  }
  int64_t at = batches;
  for (int64_t side = 0; side < 2; ++side) {
    const auto& batch = side == 0 ? numbers.lhs_batch_dimensions() : numbers.rhs_batch_dimensions();
    const auto& contracting =
        side == 0 ? numbers.lhs_contracting_dimensions() : numbers.rhs_contracting_dimensions();
    for (int dimension = 0; dimension < Rank(first->operand(side)); ++dimension) {
      if (absl::c_linear_search(batch, dimension)) continue;
      if (absl::c_linear_search(contracting, dimension)) continue;
      if (at++ != form) continue;
      if (!AllSame(Operands(lanes, 1 - side))) return std::nullopt;
      return side == 0 ? Forms{dimension, kAsItIs} : Forms{kAsItIs, dimension};
    }
  }
  return std::nullopt;
}

std::optional<Forms> ThroughConvolution(const Lanes& lanes, int form) {
  const HloInstruction* first = lanes[0];
  if (form < 0) return std::nullopt;
  const auto& numbers = first->convolution_dimension_numbers();
  const bool same = All(lanes, [&](const HloInstruction* lane) {
    return lane->feature_group_count() == 1 && lane->batch_group_count() == 1 &&
           xla::protobuf_util::HaveSameSerialization(lane->convolution_dimension_numbers(),
                                                     numbers) &&
           xla::protobuf_util::HaveSameSerialization(lane->window(), first->window()) &&
           xla::protobuf_util::HaveSameSerialization(lane->precision_config(),
                                                     first->precision_config());
  });
  if (!same) return std::nullopt;
  if (form == numbers.output_feature_dimension() && AllSame(Operands(lanes, 0))) {
    return Forms{kAsItIs, static_cast<int>(numbers.kernel_output_feature_dimension())};
  }
  if (form == numbers.output_batch_dimension() && AllSame(Operands(lanes, 1))) {
    return Forms{static_cast<int>(numbers.input_batch_dimension()), kAsItIs};
  }
  return std::nullopt;
}

std::optional<Forms> Unchecked(const Lanes& lanes, int form) {
  const HloInstruction* first = lanes[0];
  switch (first->opcode()) {
    case HloOpcode::kBroadcast: {
      const bool same = All(lanes, [&](const HloInstruction* lane) {
        return lane->dimensions() == first->dimensions();
      });
      if (!same || form == kFlattened) return std::nullopt;
      if (form == kStacked) return Forms{kStacked};
      const absl::Span<const int64_t> dimensions = first->dimensions();
      const auto at = absl::c_find(dimensions, form);
      if (at == dimensions.end()) return std::nullopt;
      return Forms{static_cast<int>(at - dimensions.begin())};
    }
    case HloOpcode::kTranspose: {
      const bool same = All(lanes, [&](const HloInstruction* lane) {
        return lane->dimensions() == first->dimensions();
      });
      if (!same || form == kFlattened) return std::nullopt;
      return Forms{form == kStacked ? kStacked : static_cast<int>(first->dimensions(form))};
    }
    case HloOpcode::kReshape:
      return ThroughReshape(lanes, form);
    case HloOpcode::kReduce:
      return ThroughReduce(lanes, form);
    case HloOpcode::kSlice:
      return ThroughSlice(lanes, form);
    case HloOpcode::kDot:
      return ThroughDot(lanes, form);
    case HloOpcode::kConvolution:
      return ThroughConvolution(lanes, form);
    default:
      if (!IsElementwise(first->opcode())) return std::nullopt;
      return Elementwise(lanes, form);
  }
}

std::vector<int64_t> BehindStack(absl::Span<const int64_t> dimensions, bool with_stack) {
  std::vector<int64_t> shifted;
  if (with_stack) shifted.push_back(0);
  for (int64_t dimension : dimensions) shifted.push_back(dimension + 1);
  return shifted;
}

HloInstruction* JoinedDot(const HloInstruction* first, int form, const Shape& shape,
                          absl::Span<HloInstruction* const> operands) {
  xla::DotDimensionNumbers numbers = first->dot_dimension_numbers();
  if (form == kStacked) {
    const auto shift = [](auto* dimensions) {
      for (int64_t& dimension : *dimensions) ++dimension;
    };
    const auto stack = [&](auto* dimensions) {
      shift(dimensions);
      dimensions->Add(0);
      std::rotate(dimensions->begin(), dimensions->end() - 1, dimensions->end());
    };
    shift(numbers.mutable_lhs_contracting_dimensions());
    shift(numbers.mutable_rhs_contracting_dimensions());
    stack(numbers.mutable_lhs_batch_dimensions());
    stack(numbers.mutable_rhs_batch_dimensions());
  }
  return operands[0]->parent()->AddInstruction(HloInstruction::CreateDot(
      shape, operands[0], operands[1], numbers, first->precision_config()));
}

}  // namespace

std::optional<std::vector<int>> OperandForms(const Lanes& lanes, int form) {
  if (!SameKind(lanes) || !Joinable(lanes, form)) return std::nullopt;
  std::optional<Forms> forms = Unchecked(lanes, form);
  if (!forms) return std::nullopt;
  for (int64_t i = 0; i < static_cast<int64_t>(forms->size()); ++i) {
    const Lanes operands = Operands(lanes, i);
    const bool possible =
        (*forms)[i] == kAsItIs ? AllSame(operands) : Joinable(operands, (*forms)[i]);
    if (!possible) return std::nullopt;
  }
  return forms;
}

HloInstruction* JoinedInstruction(const Lanes& lanes, int form,
                                  absl::Span<HloInstruction* const> operands) {
  const HloInstruction* first = lanes[0];
  const Shape shape = JoinedShape(lanes, form);
  const bool stacked = form == kStacked;
  const auto add = [&](std::unique_ptr<HloInstruction> instruction) {
    return operands[0]->parent()->AddInstruction(std::move(instruction));
  };
  switch (first->opcode()) {
    case HloOpcode::kBroadcast:
      return add(HloInstruction::CreateBroadcast(
          shape, operands[0],
          stacked ? BehindStack(first->dimensions(), true)
                  : std::vector<int64_t>(first->dimensions().begin(), first->dimensions().end())));
    case HloOpcode::kTranspose:
      return add(HloInstruction::CreateTranspose(
          shape, operands[0],
          stacked ? BehindStack(first->dimensions(), true)
                  : std::vector<int64_t>(first->dimensions().begin(), first->dimensions().end())));
    case HloOpcode::kReshape:
      return add(HloInstruction::CreateReshape(shape, operands[0]));
    case HloOpcode::kReduce:
      return add(HloInstruction::CreateReduce(
          shape, operands[0], operands[1],
          stacked ? BehindStack(first->dimensions(), false)
                  : std::vector<int64_t>(first->dimensions().begin(), first->dimensions().end()),
          first->to_apply()));
    case HloOpcode::kSlice: {
      std::vector<int64_t> starts = first->slice_starts();
      std::vector<int64_t> limits = first->slice_limits();
      std::vector<int64_t> strides = first->slice_strides();
      if (stacked) {
        starts.insert(starts.begin(), 0);
        limits.insert(limits.begin(), shape.dimensions(0));
        strides.insert(strides.begin(), 1);
      } else {
        limits[form] = shape.dimensions(form);
      }
      return add(HloInstruction::CreateSlice(shape, operands[0], starts, limits, strides));
    }
    case HloOpcode::kDot:
      return JoinedDot(first, form, shape, operands);
    default:
      return add(first->CloneWithNewOperands(shape, operands));
  }
}

}  // namespace hone::compiler
