#include "compiler/implementations/causal.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// Far from where 32 bits overflow.
constexpr double kMostOffset = 1 << 20;
constexpr int kMostDepth = 32;

// rows * row + columns * column + offset
struct Linear {
  int64_t rows = 0, columns = 0;
  double offset = 0;
};

struct Place {
  int64_t rows, columns;
};

std::optional<Linear> LinearOf(const HloInstruction* value, const Sizes& dimensions, Place place,
                               int depth) {
  if (depth > kMostDepth) return std::nullopt;
  const xla::PrimitiveType type = value->shape().element_type();
  if (type != xla::S32 && type != xla::S64 && type != xla::F32 && type != xla::F64) {
    return std::nullopt;
  }
  if (const std::optional<double> constant = ConstantOf(*value)) {
    if (std::fabs(*constant) > kMostOffset) return std::nullopt;
    return Linear{0, 0, *constant};
  }
  const View view = Through(value, dimensions, nullptr);
  value = view.value;
  switch (value->opcode()) {
    case HloOpcode::kIota: {
      const auto* const iota = xla::Cast<xla::HloIotaInstruction>(value);
      if (value->shape().dimensions(iota->iota_dimension()) > kMostOffset) return std::nullopt;
      const int64_t counts = view.dimensions[iota->iota_dimension()];
      if (counts == place.rows) return Linear{1, 0, 0};
      if (counts == place.columns) return Linear{0, 1, 0};
      return counts < 0 ? std::optional<Linear>(Linear{}) : std::nullopt;
    }
    case HloOpcode::kConvert:
      return LinearOf(value->operand(0), view.dimensions, place, depth + 1);
    case HloOpcode::kAdd:
    case HloOpcode::kSubtract: {
      const auto a = LinearOf(value->operand(0), view.dimensions, place, depth + 1);
      const auto b = LinearOf(value->operand(1), view.dimensions, place, depth + 1);
      if (!a || !b) return std::nullopt;
      const int sign = value->opcode() == HloOpcode::kAdd ? 1 : -1;
      const Linear sum{a->rows + sign * b->rows, a->columns + sign * b->columns,
                       a->offset + sign * b->offset};
      if (std::fabs(sum.offset) > kMostOffset) return std::nullopt;
      return sum;
    }
    default:
      return std::nullopt;
  }
}

bool Holds(xla::ComparisonDirection direction, double a, double b) {
  switch (direction) {
    case xla::ComparisonDirection::kEq:
      return a == b;
    case xla::ComparisonDirection::kNe:
      return a != b;
    case xla::ComparisonDirection::kGe:
      return a >= b;
    case xla::ComparisonDirection::kGt:
      return a > b;
    case xla::ComparisonDirection::kLe:
      return a <= b;
    case xla::ComparisonDirection::kLt:
      return a < b;
  }
  return false;
}

std::optional<Causal> Of(const HloInstruction* condition, const Sizes& dimensions, Place place,
                         int depth);

// The condition that decides between two numbers which one a value is; {when it holds, else}.
struct Choice {
  Causal condition;
  double yes, no;
};
std::optional<Choice> ChoiceOf(const HloInstruction* value, const Sizes& dimensions, Place place,
                               int depth) {
  const View view = Through(value, dimensions, nullptr);
  if (view.value->opcode() == HloOpcode::kConvert) {
    if (view.value->operand(0)->shape().element_type() != xla::PRED) {
      return ChoiceOf(view.value->operand(0), view.dimensions, place, depth + 1);
    }
    const auto condition = Of(view.value->operand(0), view.dimensions, place, depth + 1);
    if (!condition) return std::nullopt;
    return Choice{*condition, 1, 0};
  }
  if (view.value->opcode() != HloOpcode::kSelect) return std::nullopt;
  const auto yes = ConstantOf(*view.value->operand(1)), no = ConstantOf(*view.value->operand(2));
  if (!yes || !no) return std::nullopt;
  const auto condition = Of(view.value->operand(0), view.dimensions, place, depth + 1);
  if (!condition) return std::nullopt;
  return Choice{*condition, *yes, *no};
}

std::optional<Causal> Decided(const Causal& condition, bool yes, bool no) {
  if (yes == no) return std::nullopt;
  return yes ? condition : Causal{condition.until, !condition.negated};
}

std::optional<Causal> Of(const HloInstruction* condition, const Sizes& dimensions, Place place,
                         int depth) {
  if (depth > kMostDepth) return std::nullopt;
  const View view = Through(condition, dimensions, nullptr);
  const HloInstruction* const value = view.value;
  switch (value->opcode()) {
    case HloOpcode::kNot: {
      auto of = Of(value->operand(0), view.dimensions, place, depth + 1);
      if (of) of->negated = !of->negated;
      return of;
    }
    case HloOpcode::kSelect: {
      const auto choice = ChoiceOf(value, view.dimensions, place, depth + 1);
      return choice ? Decided(choice->condition, choice->yes != 0, choice->no != 0) : std::nullopt;
    }
    case HloOpcode::kCompare:
      break;
    default:
      return std::nullopt;
  }
  const xla::ComparisonDirection direction = value->comparison_direction();
  if (const std::optional<double> against = ConstantOf(*value->operand(1))) {
    if (const auto choice = ChoiceOf(value->operand(0), view.dimensions, place, depth + 1)) {
      return Decided(choice->condition, Holds(direction, choice->yes, *against),
                     Holds(direction, choice->no, *against));
    }
  }
  const auto a = LinearOf(value->operand(0), view.dimensions, place, depth + 1);
  const auto b = LinearOf(value->operand(1), view.dimensions, place, depth + 1);
  if (!a || !b) return std::nullopt;
  // a - b: row - column + offset, or the other way round.
  const int64_t rows = a->rows - b->rows, columns = a->columns - b->columns;
  const double offset = a->offset - b->offset;
  if (offset != std::floor(offset) || rows * columns != -1) return std::nullopt;
  const auto whole = static_cast<int64_t>(offset);
  const bool forward = rows == 1;
  switch (direction) {
    case xla::ComparisonDirection::kGe:  // column <= row + o; or row <= column + o
      return forward ? Causal{whole, false} : Causal{-whole - 1, true};
    case xla::ComparisonDirection::kGt:
      return forward ? Causal{whole - 1, false} : Causal{-whole, true};
    case xla::ComparisonDirection::kLe:
      return forward ? Causal{whole - 1, true} : Causal{-whole, false};
    case xla::ComparisonDirection::kLt:
      return forward ? Causal{whole, true} : Causal{-whole - 1, false};
    default:
      return std::nullopt;
  }
}

}  // namespace

View Through(const HloInstruction* value, Sizes dimensions, std::set<const HloInstruction*>* path) {
  while (true) {
    const HloInstruction* const from = value;
    if (const int past = PastLeast(*value); past >= 0) {
      value = value->operand(past);
    } else if (value->opcode() == HloOpcode::kBroadcast) {
      Sizes of;
      for (const int64_t d : value->dimensions()) of.push_back(dimensions[d]);
      dimensions = std::move(of);
      value = value->operand(0);
    } else if (value->opcode() == HloOpcode::kTranspose) {
      Sizes of(dimensions.size());
      for (size_t d = 0; d < of.size(); ++d) of[value->dimensions(d)] = dimensions[d];
      dimensions = std::move(of);
      value = value->operand(0);
    } else if (IsIdentity(*value)) {
      Sizes counted;
      for (size_t d = 0; d < dimensions.size(); ++d) {
        if (value->shape().dimensions(d) != 1) counted.push_back(dimensions[d]);
      }
      value = value->operand(0);
      Sizes of;
      size_t next = 0;
      for (const int64_t size : value->shape().dimensions()) {
        of.push_back(size == 1 ? -1 : counted[next++]);
      }
      dimensions = std::move(of);
    } else {
      return {value, std::move(dimensions)};
    }
    if (path != nullptr) path->insert(from);
  }
}

View PastRounding(const HloInstruction* value, Sizes dimensions,
                  std::set<const HloInstruction*>* path) {
  View view = Through(value, std::move(dimensions), path);
  while (IsRounding(*view.value)) {
    if (path != nullptr) path->insert(view.value);
    view = Through(view.value->operand(0), std::move(view.dimensions), path);
  }
  return view;
}

std::optional<Causal> CausalOf(const HloInstruction* condition, const Sizes& dimensions,
                               int64_t rows, int64_t columns) {
  return Of(condition, dimensions, {rows, columns}, 0);
}

}  // namespace hone::compiler
