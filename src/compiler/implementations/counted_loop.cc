#include "compiler/implementations/counted_loop.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/analysis/while_loop_analysis.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostTrips = 1 << 16;

// One row, along the first dimension, of an array, or of the array to write it into.
bool IsRow(const xla::Shape& row, const xla::Shape& whole) {
  return whole.IsArray() && whole.dimensions().size() > 1 && row.dimensions(0) == 1 &&
         absl::c_equal(row.dimensions().subspan(1), whole.dimensions().subspan(1));
}

bool Sums(const HloInstruction& reduce) {
  return reduce.opcode() == HloOpcode::kReduce && reduce.shape().IsArray() &&
         emit::ReducerOpcode(*reduce.to_apply()) == HloOpcode::kAdd;
}

bool IsZero(const HloInstruction& value) { return emit::IsIdentity(value, HloOpcode::kAdd); }

}  // namespace

// Each row once.
bool IsPermutation(const Positions& positions) {
  std::vector<bool> seen(positions.size());
  for (const int64_t p : positions) {
    if (p < 0 || p >= static_cast<int64_t>(seen.size()) || seen[p]) return false;
    seen[p] = true;
  }
  return true;
}

bool IsLiftable(const HloInstruction& instruction) {
  if (!instruction.shape().IsArray() || !emit::Free(instruction)) return false;
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kPad:
    case HloOpcode::kReshape:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    case HloOpcode::kDot:
      return IsPlainDot(instruction);
    case HloOpcode::kReduce:
      return Sums(instruction) && IsZero(*instruction.operand(1));
    case HloOpcode::kRng:
      return false;
    default:
      return instruction.IsElementwise() && instruction.called_computations().empty() &&
             instruction.operand_count() > 0 &&
             absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
               return xla::ShapeUtil::SameDimensions(operand->shape(), instruction.shape());
             });
  }
}

std::unique_ptr<CountedLoop> CountedLoop::Of(HloInstruction* loop) {
  if (loop->opcode() != HloOpcode::kWhile || !emit::Free(*loop) || !loop->shape().IsTuple() ||
      loop->while_body()->root_instruction()->opcode() != HloOpcode::kTuple) {
    return nullptr;
  }
  for (const HloComputation* computation : {loop->while_body(), loop->while_condition()}) {
    const HloInstruction& state = *computation->parameter_instruction(0);
    if (state.IsRoot() || !IsTakenApart(state)) return nullptr;
    if (absl::c_any_of(computation->instructions(), [](const HloInstruction* instruction) {
          return instruction->HasSideEffect() || instruction->HasControlDependencies();
        })) {
      return nullptr;
    }
  }
  const std::optional<int64_t> trips = xla::ComputeWhileLoopTripCount(loop);
  if (!trips || *trips < 2 || *trips > kMostTrips) return nullptr;
  return std::unique_ptr<CountedLoop>(new CountedLoop(loop, *trips));
}

HloInstruction* CountedLoop::OnlyUserOf(int64_t part) const {
  HloInstruction* only = nullptr;
  for (const HloComputation* computation : {body(), loop_->while_condition()}) {
    for (const HloInstruction* element : computation->parameter_instruction(0)->users()) {
      if (element->tuple_index() != part || (element->user_count() == 0 && !element->IsRoot())) {
        continue;
      }
      if (computation != body() || only != nullptr || element->user_count() != 1) return nullptr;
      only = element->users()[0];
    }
  }
  return only;
}

bool CountedLoop::IsInvariant(const HloInstruction& value) {
  const auto known = invariant_.find(&value);
  if (known != invariant_.end()) return known->second;
  bool is = false;
  if (const int64_t part = PartOf(value); part != kNone) {
    is = IsKept(part);
  } else if (value.opcode() == HloOpcode::kConstant || value.opcode() == HloOpcode::kIota) {
    is = true;
  } else if (value.operand_count() > 0 && value.shape().IsArray() && IsLiftable(value)) {
    is = absl::c_all_of(value.operands(),
                        [&](const HloInstruction* operand) { return IsInvariant(*operand); });
  }
  return invariant_[&value] = is;
}

std::optional<int> CountedLoop::InvariantSideOf(const HloInstruction& dot) {
  const bool first = IsInvariant(*dot.operand(0));
  if (first == IsInvariant(*dot.operand(1))) return std::nullopt;
  return first ? 0 : 1;
}

HloInstruction* CountedLoop::Before(HloInstruction* value) {
  HloInstruction*& before = before_[value];
  if (before != nullptr) return before;
  if (const int64_t part = PartOf(*value); part != kNone) return before = First(part);
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : value->operands()) operands.push_back(Before(operand));
  return before =
             loop_->parent()->AddInstruction(value->CloneWithNewOperands(value->shape(), operands));
}

std::optional<Positions> CountedLoop::Compute(const HloInstruction& number) {
  const xla::Shape& shape = number.shape();
  if (!shape.IsArray() || !shape.dimensions().empty() ||
      !(shape.AreAllLeavesIntegers() || shape.element_type() == xla::PRED)) {
    return std::nullopt;
  }
  if (number.opcode() == HloOpcode::kConstant) {
    const std::optional<int64_t> value = number.literal().GetIntegralAsS64({});
    if (!value) return std::nullopt;
    return Positions(trips_, *value);
  }
  // A part that grows by a constant.
  if (const int64_t part = PartOf(number); part != kNone) {
    const HloInstruction& next_value = *next()->operand(part);
    if (loop_->operand(0)->opcode() != HloOpcode::kTuple) return std::nullopt;
    const HloInstruction& first = *loop_->operand(0)->operand(part);
    if (next_value.opcode() != HloOpcode::kAdd || first.opcode() != HloOpcode::kConstant) {
      return std::nullopt;
    }
    for (int k : {0, 1}) {
      const HloInstruction& step = *next_value.operand(1 - k);
      if (PartOf(*next_value.operand(k)) != part || step.opcode() != HloOpcode::kConstant) continue;
      Positions values(trips_, *first.literal().GetIntegralAsS64({}));
      for (int64_t t = 1; t < trips_; ++t) {
        values[t] = values[t - 1] + *step.literal().GetIntegralAsS64({});
      }
      return values;
    }
    return std::nullopt;
  }
  std::vector<const Positions*> of;
  for (const HloInstruction* operand : number.operands()) {
    of.push_back(ValuesOf(*operand));
    if (of.back() == nullptr) return std::nullopt;
  }
  Positions values(trips_);
  for (int64_t t = 0; t < trips_; ++t) {
    const auto x = [&](int k) { return (*of[k])[t]; };
    switch (number.opcode()) {
      case HloOpcode::kAdd:
        values[t] = x(0) + x(1);
        break;
      case HloOpcode::kSubtract:
        values[t] = x(0) - x(1);
        break;
      case HloOpcode::kMultiply:
        values[t] = x(0) * x(1);
        break;
      case HloOpcode::kMinimum:
        values[t] = std::min(x(0), x(1));
        break;
      case HloOpcode::kMaximum:
        values[t] = std::max(x(0), x(1));
        break;
      case HloOpcode::kSelect:
        values[t] = x(0) != 0 ? x(1) : x(2);
        break;
      case HloOpcode::kConvert:
      case HloOpcode::kCopy:
      case HloOpcode::kReshape:
        values[t] = x(0);
        break;
      case HloOpcode::kCompare:
        switch (number.comparison_direction()) {
          case xla::ComparisonDirection::kLt:
            values[t] = x(0) < x(1);
            break;
          case xla::ComparisonDirection::kGe:
            values[t] = x(0) >= x(1);
            break;
          default:
            return std::nullopt;
        }
        break;
      default:
        return std::nullopt;
    }
    // No type of an index is narrower but bytes, and none of these wraps.
    constexpr int64_t kLargest = 1 << 30;
    if (values[t] > kLargest || values[t] < -kLargest) return std::nullopt;
  }
  return values;
}

const Positions* CountedLoop::ValuesOf(const HloInstruction& number) {
  auto known = values_.find(&number);
  if (known == values_.end()) known = values_.emplace(&number, Compute(number)).first;
  return known->second ? &*known->second : nullptr;
}

const Positions* CountedLoop::RowsOf(const HloInstruction& access) {
  const bool reads = access.opcode() == HloOpcode::kDynamicSlice;
  if (!reads && access.opcode() != HloOpcode::kDynamicUpdateSlice) return nullptr;
  const xla::Shape& whole = access.operand(0)->shape();
  const xla::Shape& row = reads ? access.shape() : access.operand(1)->shape();
  if (!IsRow(row, whole) || whole.dimensions(0) != trips_) return nullptr;
  auto known = rows_.find(&access);
  if (known == rows_.end()) {
    std::optional<Positions> rows;
    if (const Positions* values = ValuesOf(*access.operand(reads ? 1 : 2))) {
      rows = *values;
      for (int64_t& row_number : *rows) {
        row_number = std::clamp<int64_t>(row_number, 0, trips_ - 1);
      }
    }
    known = rows_.emplace(&access, std::move(rows)).first;
  }
  return known->second ? &*known->second : nullptr;
}

bool CountedLoop::IsOfRows(const HloInstruction& value, const Positions* positions) {
  const auto known = of_rows_.find({&value, positions});
  if (known != of_rows_.end()) return known->second;
  bool is = false;
  if (value.opcode() == HloOpcode::kDynamicSlice) {
    const Positions* const rows = RowsOf(value);
    is = rows != nullptr && (positions == nullptr || *rows == *positions) &&
         IsInvariant(*value.operand(0));
  } else if (IsLiftable(value) && !IsInvariant(value)) {
    is = absl::c_all_of(value.operands(), [&](const HloInstruction* operand) {
      return IsInvariant(*operand) || IsOfRows(*operand, positions);
    });
  }
  return of_rows_[{&value, positions}] = is;
}

}  // namespace hone::compiler
