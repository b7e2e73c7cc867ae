#include "compiler/implementations/element_loop.h"

#include <functional>

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/loop_state.h"
#include "xla/primitive_util.h"
#include "xla/service/collective_ops_utils.h"
#include "xla/shape.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLargeArray = 1 << 14;  // elements, at least
constexpr int64_t kFewElements = 64;      // of what is computed from nothing large

int64_t ElementsOf(const HloInstruction& x) { return xla::ShapeUtil::ElementsIn(x.shape()); }

// An array of what follows from the operands alone, whatever it does with them.
bool IsPlain(const HloInstruction& value) {
  switch (value.opcode()) {
    case HloOpcode::kCustomCall:
    case HloOpcode::kParameter:
    case HloOpcode::kPartitionId:
    case HloOpcode::kReplicaId:
    case HloOpcode::kRng:
      return false;
    default:
      return value.shape().IsArray() && value.called_computations().empty() &&
             !xla::IsCollective(&value);
  }
}

bool AreFree(const HloComputation& computation) {
  return absl::c_all_of(computation.instructions(),
                        [](const HloInstruction* value) { return emit::Free(*value); });
}

}  // namespace

bool MixesBits(const HloComputation& body) {
  bool shifts = false, differs = false;
  for (const HloInstruction* one : body.instructions()) {
    const bool is_float = one->shape().IsArray() &&
                          !xla::primitive_util::IsIntegralType(one->shape().element_type()) &&
                          one->shape().element_type() != xla::PRED;
    if (is_float) return false;
    if (one->opcode() == HloOpcode::kCall && MixesBits(*one->to_apply())) return true;
    shifts = shifts || one->opcode() == HloOpcode::kShiftRightLogical;
    differs = differs || one->opcode() == HloOpcode::kXor;
  }
  return shifts && differs;
}

bool ElementLoop::FindParts() {
  if (!loop_->shape().IsTuple() || next()->opcode() != HloOpcode::kTuple) return false;
  for (const HloComputation* computation : {loop_->while_body(), loop_->while_condition()}) {
    const HloInstruction& state = *computation->parameter_instruction(0);
    if (state.IsRoot() || !IsTakenApart(state) || !AreFree(*computation)) return false;
  }
  const int64_t parts = next()->operand_count();
  for (int64_t k = 0; k < parts; ++k) {
    if (!ShapeOf(k).IsArray()) return false;
    const int64_t elements = xla::ShapeUtil::ElementsIn(ShapeOf(k));
    if (elements < kLargeArray) continue;
    if (elements_ != 0 && elements != elements_) return false;
    elements_ = elements;
  }
  for (int64_t k = 0; k < parts; ++k) {
    const bool kept = PartOf(*Unwrapped(next()->operand(k))) == k;
    uses_.push_back(kept ? Use::kKept : IsLarge(k) ? Use::kElements : Use::kShared);
  }
  return elements_ > 0 && absl::c_linear_search(uses_, Use::kElements);
}

// The same in all trips, and known in front of the loop.
bool ElementLoop::IsInvariant(const HloInstruction& value) const {
  if (const int64_t part = PartOf(value); part != kNone) return uses_[part] == Use::kKept;
  return IsPlain(value) && absl::c_all_of(value.operands(), [&](const HloInstruction* operand) {
           return invariant_.contains(operand);
         });
}

ElementLoop::Kind ElementLoop::KindOf(const HloInstruction& value) {
  if (const int64_t part = PartOf(value); part != kNone) {
    return IsLarge(part) ? Kind::kElements : Kind::kShared;
  }
  if (!IsPlain(value)) return Kind::kOther;
  const HloOpcode opcode = value.opcode();
  const bool all_shared = absl::c_all_of(
      value.operands(), [&](const HloInstruction* operand) { return Has(operand, Kind::kShared); });
  if (ElementsOf(value) != elements_) {
    return all_shared && ElementsOf(value) <= kFewElements ? Kind::kShared : Kind::kOther;
  }
  const bool takes_scalars = opcode == HloOpcode::kClamp || opcode == HloOpcode::kSelect;
  const auto may_take = [&](const HloInstruction* operand) {
    return Has(operand, Kind::kElements) ||
           (takes_scalars && Has(operand, Kind::kShared) && RankOf(*operand) == 0);
  };
  const bool by_element =
      value.operand_count() > 0 &&
      ((value.IsElementwise() && absl::c_all_of(value.operands(), may_take)) ||
       (opcode == HloOpcode::kBroadcast && all_shared && ElementsOf(*value.operand(0)) == 1) ||
       (opcode == HloOpcode::kReshape && Has(value.operand(0), Kind::kElements)));
  if (by_element) return Kind::kElements;
  if (!IsInvariant(value)) return Kind::kOther;
  known_before_.insert(&value);  // as an iota, or what is spread from rows
  return Kind::kElements;
}

void ElementLoop::FindKinds(const HloComputation& computation) {
  for (HloInstruction* value : computation.MakeInstructionPostOrder()) {
    const HloInstruction* const same = Unwrapped(value);
    const bool seen = same != value;
    const Kind kind = seen ? kinds_.at(same) : KindOf(*value);
    kinds_[value] = kind;
    if (seen ? invariant_.contains(same) : IsInvariant(*value)) invariant_.insert(value);
  }
}

// Whether both follow in the same way from the same parts of the state.
bool ElementLoop::AreAlike(const HloInstruction* in_body, const HloInstruction* in_condition) {
  const HloInstruction* const a = Unwrapped(in_body);
  const HloInstruction* const b = Unwrapped(in_condition);
  if (a->opcode() == HloOpcode::kParameter || b->opcode() == HloOpcode::kParameter) {
    return a->opcode() == b->opcode();
  }
  if (alike_.contains({a, b})) return true;
  const bool alike = a->Identical(
      *b, [this](const HloInstruction* x, const HloInstruction* y) { return AreAlike(x, y); },
      std::equal_to<const HloComputation*>(), /*layout_sensitive=*/false);
  if (alike) alike_.insert({a, b});
  return alike;
}

// Elements that have stopped stay as they are, as jax.vmap makes it. They have stopped for good:
// what says so follows from the element, and from what no trip changes.
bool ElementLoop::FindStops() {
  const HloInstruction& any = *goes_on();
  if (any.opcode() != HloOpcode::kReduce || any.operand_count() != 2 ||
      !Has(any.operand(0), Kind::kElements) ||
      emit::ReducerOpcode(*any.to_apply()) != HloOpcode::kOr ||
      !emit::IsIdentity(*any.operand(1), HloOpcode::kOr)) {
    return false;
  }
  for (int64_t k = 0; k < parts(); ++k) {
    if (uses_[k] == Use::kKept) continue;
    const HloInstruction& end = *Unwrapped(next()->operand(k));
    if (uses_[k] != Use::kElements || end.opcode() != HloOpcode::kSelect ||
        PartOf(*Unwrapped(end.operand(2))) != k || !AreAlike(end.operand(0), any.operand(0))) {
      return false;
    }
  }
  return true;
}

std::unique_ptr<ElementLoop> ElementLoop::Of(HloInstruction* loop) {
  if (loop->opcode() != HloOpcode::kWhile || !emit::Free(*loop)) return nullptr;
  auto found = std::unique_ptr<ElementLoop>(new ElementLoop(loop));
  if (!found->FindParts()) return nullptr;
  found->FindKinds(*loop->while_body());
  found->FindKinds(*loop->while_condition());
  for (int64_t k = 0; k < found->parts(); ++k) {
    const Kind kind = found->IsLarge(k) ? Kind::kElements : Kind::kShared;
    if (!found->Has(found->next()->operand(k), kind)) return nullptr;
  }
  found->stops_by_element_ = found->FindStops();
  if (!found->stops_by_element_ && !found->Has(found->goes_on(), Kind::kShared)) return nullptr;
  return found;
}

}  // namespace hone::compiler
