// The derivative of log(exp(x) + exp(y)), which softplus, log-sigmoid and the losses of binary
// labels are made of, without the logarithm.
#include <cmath>
#include <optional>

#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool Is(const HloInstruction& value, HloOpcode opcode) { return value.opcode() == opcode; }

// What is taken where `value` is, but where it is infinite.
HloInstruction* WhereFinite(HloInstruction* value) {
  if (!Is(*value, HloOpcode::kSelect) || ConstantOf(*value->operand(1)) != 0.0) return value;
  const HloInstruction& test = *value->operand(0);
  HloInstruction* const kept = value->mutable_operand(2);
  const bool infinite = Is(test, HloOpcode::kCompare) &&
                        test.comparison_direction() == xla::ComparisonDirection::kEq &&
                        test.operand(0) == kept && NumberOf(*test.operand(1)) == INFINITY;
  return infinite ? kept : value;
}

// What is taken where something is a number.
HloInstruction* WhereNumber(HloInstruction* value) {
  if (!Is(*value, HloOpcode::kSelect)) return value;
  const HloInstruction& test = *value->operand(0);
  const bool is_nan = Is(test, HloOpcode::kCompare) &&
                      test.comparison_direction() == xla::ComparisonDirection::kNe &&
                      test.operand(0) == test.operand(1);
  return is_nan ? value->mutable_operand(2) : value;
}

// log(exp(x) + exp(y)).
struct LogOfSum {
  HloInstruction* other = nullptr;       // y
  HloInstruction* difference = nullptr;  // exp(-|x - y|)
};

// Nothing where it is none of `x`, as JAX writes it: max(x, y) + log1p(exp(-|x - y|)).
std::optional<LogOfSum> LogOfSumOf(HloInstruction* value, const HloInstruction* x) {
  value = WhereNumber(value);
  if (!Is(*value, HloOpcode::kAdd) || !Is(*value->operand(0), HloOpcode::kMaximum) ||
      !Is(*value->operand(1), HloOpcode::kLog1p)) {
    return std::nullopt;
  }
  const HloInstruction& most = *value->operand(0);
  if (most.operand(0) != x && most.operand(1) != x) return std::nullopt;
  LogOfSum sum{value->mutable_operand(0)->mutable_operand(most.operand(0) == x ? 1 : 0),
               value->mutable_operand(1)->mutable_operand(0)};
  const HloInstruction* inner = sum.difference;
  for (const HloOpcode opcode : {HloOpcode::kExp, HloOpcode::kNegate, HloOpcode::kAbs}) {
    if (!Is(*inner, opcode)) return std::nullopt;
    inner = inner->operand(0);
  }
  const auto is_other = [&](const HloInstruction* operand) {
    const std::optional<double> number = ConstantOf(*operand);
    return operand == sum.other || (number && number == ConstantOf(*sum.other));
  };
  const bool simplified = inner == x && ConstantOf(*sum.other) == 0.0;
  const bool subtracts = Is(*inner, HloOpcode::kSubtract) &&
                         ((inner->operand(0) == x && is_other(inner->operand(1))) ||
                          (inner->operand(1) == x && is_other(inner->operand(0))));
  return simplified || subtracts ? std::make_optional(sum) : std::nullopt;
}

}  // namespace

absl::StatusOr<HloInstruction*> LogisticGradients(HloInstruction* root) {
  const xla::PrimitiveType type = root->shape().element_type();
  if (!xla::primitive_util::IsFloatingPointType(type) || !emit::Free(*root) ||
      !Is(*root->operand(0), HloOpcode::kSubtract)) {
    return nullptr;
  }
  HloInstruction* const finite = root->mutable_operand(0)->mutable_operand(0);
  HloInstruction* const x = WhereFinite(finite);
  const auto sum = LogOfSumOf(WhereFinite(root->mutable_operand(0)->mutable_operand(1)), x);
  if (!sum) return nullptr;
  const emit::Sizes sizes = x->shape().dimensions();
  const auto spread = [&](HloInstruction* scalar) { return emit::Broadcast(scalar, sizes, {}); };
  HloInstruction* const one = spread(emit::Number(root->parent(), type, 1));
  // Beside a number the exponential is there already.
  if (ConstantOf(*sum->other)) {
    HloInstruction* const larger = emit::Compare(xla::ComparisonDirection::kGt, x, sum->other);
    return emit::Binary(HloOpcode::kDivide, emit::Select(larger, one, sum->difference),
                        emit::Binary(HloOpcode::kAdd, one, sum->difference));
  }
  // Where y is infinite, what JAX writes is exp(x).
  HloInstruction* const infinite =
      emit::Compare(xla::ComparisonDirection::kEq, sum->other,
                    spread(emit::Scalar(root->parent(), xla::LiteralUtil::MaxValue(type))));
  HloInstruction* const quotient = emit::Unary(
      HloOpcode::kExp,
      emit::Select(infinite, finite, emit::Binary(HloOpcode::kSubtract, sum->other, x)));
  return emit::Select(
      infinite, quotient,
      emit::Binary(HloOpcode::kDivide, one, emit::Binary(HloOpcode::kAdd, one, quotient)));
}

}  // namespace hone::compiler
