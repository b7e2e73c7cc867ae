// The derivative of log(exp(x) + exp(c)), which softplus, log-sigmoid and the losses of binary
// labels are made of, without the logarithm.
#include <cmath>
#include <optional>

#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// What is taken where `value` is, in the place of an infinite one or not.
HloInstruction* WhereFinite(HloInstruction* value) {
  if (value->opcode() != HloOpcode::kSelect || ConstantOf(*value->operand(1)) != 0.0) return value;
  const HloInstruction& test = *value->operand(0);
  HloInstruction* const kept = value->mutable_operand(2);
  const bool infinite = test.opcode() == HloOpcode::kCompare &&
                        test.comparison_direction() == xla::ComparisonDirection::kEq &&
                        test.operand(0) == kept && NumberOf(*test.operand(1)) == INFINITY;
  return infinite ? kept : value;
}

// What is taken where a difference is a number.
HloInstruction* WhereNumber(HloInstruction* value) {
  if (value->opcode() != HloOpcode::kSelect) return value;
  const HloInstruction& test = *value->operand(0);
  const bool is_nan = test.opcode() == HloOpcode::kCompare &&
                      test.comparison_direction() == xla::ComparisonDirection::kNe &&
                      test.operand(0) == test.operand(1) &&
                      test.operand(0)->opcode() == HloOpcode::kSubtract;
  return is_nan ? value->mutable_operand(2) : value;
}

bool Is(const HloInstruction& value, HloOpcode opcode) { return value.opcode() == opcode; }

// Whether it is log(exp(x) + exp(c)) of a number c, as JAX writes it; nothing where it is not.
std::optional<double> OtherTerm(HloInstruction* value, const HloInstruction& x) {
  value = WhereNumber(value);
  if (!Is(*value, HloOpcode::kAdd) || !Is(*value->operand(0), HloOpcode::kMaximum) ||
      !Is(*value->operand(1), HloOpcode::kLog1p)) {
    return std::nullopt;
  }
  const HloInstruction& most = *value->operand(0);
  const HloInstruction* inner = value->operand(1)->operand(0);
  for (const HloOpcode opcode : {HloOpcode::kExp, HloOpcode::kNegate, HloOpcode::kAbs}) {
    if (!Is(*inner, opcode)) return std::nullopt;
    inner = inner->operand(0);
  }
  if (!Is(*inner, HloOpcode::kSubtract)) return std::nullopt;
  const auto other = [&](const HloInstruction& both) {
    return both.operand(0) == &x ? ConstantOf(*both.operand(1))
           : both.operand(1) == &x ? ConstantOf(*both.operand(0))
                                   : std::nullopt;
  };
  const std::optional<double> c = other(most);
  return c && other(*inner) == c ? c : std::nullopt;
}

}  // namespace

absl::StatusOr<HloInstruction*> LogisticGradients(HloInstruction* root) {
  if (!xla::primitive_util::IsFloatingPointType(root->shape().element_type()) ||
      !emit::Free(*root) || !Is(*root->operand(0), HloOpcode::kSubtract)) {
    return nullptr;
  }
  HloInstruction* const difference = root->mutable_operand(0);
  HloInstruction* const x = WhereFinite(difference->mutable_operand(0));
  const std::optional<double> c = OtherTerm(WhereFinite(difference->mutable_operand(1)), *x);
  if (!c) return nullptr;
  if (*c == 0) return emit::Unary(HloOpcode::kLogistic, x);
  HloInstruction* const other = emit::Scalar(
      root->parent(),
      xla::LiteralUtil::CreateR0<double>(*c).Convert(root->shape().element_type()).value());
  return emit::Unary(HloOpcode::kLogistic,
                     emit::Binary(HloOpcode::kSubtract, x,
                                  emit::Broadcast(other, emit::SizesOf(*x), {})));
}

}  // namespace hone::compiler
