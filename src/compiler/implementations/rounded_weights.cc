#include "compiler/implementations/rounded_weights.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// A rounding of f32 to bf16.
bool Rounds(const HloInstruction& value) {
  return Narrows(value) && value.shape().element_type() == xla::BF16 && emit::Free(value);
}

HloInstruction* BeforeTranspose(HloInstruction* rounding) {
  HloInstruction* const transpose = rounding->mutable_operand(0);
  const bool for_dots = absl::c_all_of(rounding->users(), [](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kDot;
  });
  if (transpose->opcode() != HloOpcode::kTranspose || !IsRounding(*rounding) || !for_dots ||
      !emit::Free(*rounding) || !emit::Free(*transpose)) {
    return nullptr;
  }
  return emit::Transpose(
      emit::Convert(transpose->mutable_operand(0), rounding->shape().element_type()),
      transpose->dimensions());
}

HloInstruction* AfterSlice(HloInstruction* slice) {
  HloInstruction* const rounding = slice->mutable_operand(0);
  if (!Rounds(*rounding) || !emit::Free(*slice)) return nullptr;
  std::vector<HloInstruction*> operands(slice->operands().begin(), slice->operands().end());
  operands[0] = rounding->mutable_operand(0);
  return emit::Convert(slice->parent()->AddInstruction(slice->CloneWithNewOperands(
                           xla::ShapeUtil::ChangeElementType(slice->shape(), xla::F32), operands)),
                       xla::BF16);
}

bool IsElement(const HloInstruction& value, const HloInstruction* of, int64_t index) {
  return value.opcode() == HloOpcode::kGetTupleElement && value.operand(0) == of &&
         value.tuple_index() == index;
}

// Whether an element of a loop's state is rounded before it, and within it only sliced.
bool IsRoundedBefore(const HloInstruction& loop, int64_t index) {
  if (!Rounds(*loop.operand(0)->operand(index))) return false;
  const HloInstruction* const state = loop.while_body()->parameter_instruction(0);
  const HloInstruction* const next = loop.while_body()->root_instruction();
  if (next->opcode() != HloOpcode::kTuple || !IsElement(*next->operand(index), state, index)) {
    return false;
  }
  bool sliced = false;
  for (const HloInstruction* element : state->users()) {
    if (!IsElement(*element, state, index)) continue;
    for (const HloInstruction* user : element->users()) {
      const bool passed_on = user == next && next->operand(index) == element &&
                             absl::c_count(next->operands(), element) == 1;
      const bool slice = user->opcode() == HloOpcode::kDynamicSlice &&
                         user->operand(0) == element &&
                         2 * xla::ShapeUtil::ElementsIn(user->shape()) <=
                             xla::ShapeUtil::ElementsIn(element->shape());
      if (!slice && !passed_on) return false;
      sliced = sliced || slice;
    }
  }
  const HloInstruction* const asked = loop.while_condition()->parameter_instruction(0);
  const auto is_it = [&](const HloInstruction* of) {
    return [=](const HloInstruction* user) { return IsElement(*user, of, index); };
  };
  return sliced && absl::c_none_of(asked->users(), is_it(asked)) &&
         absl::c_none_of(loop.users(), is_it(&loop));
}

std::vector<int64_t> RoundedBefore(const HloInstruction& loop) {
  std::vector<int64_t> found;
  if (loop.operand(0)->opcode() != HloOpcode::kTuple || loop.IsRoot() || !emit::Free(loop) ||
      !IsTakenApart(loop) || !IsTakenApart(*loop.while_body()->parameter_instruction(0)) ||
      !IsTakenApart(*loop.while_condition()->parameter_instruction(0))) {
    return found;
  }
  for (int64_t i = 0; i < loop.operand(0)->operand_count(); ++i) {
    if (IsRoundedBefore(loop, i)) found.push_back(i);
  }
  return found;
}

HloInstruction* WithinLoop(HloInstruction* loop) {
  const std::vector<int64_t> rounded = RoundedBefore(*loop);
  if (rounded.empty()) return nullptr;
  const HloInstruction* const before = loop->operand(0);
  std::vector<HloInstruction*> first(before->operands().begin(), before->operands().end());
  xla::Shape state = loop->shape();
  for (const int64_t i : rounded) {
    first[i] = first[i]->mutable_operand(0);
    state.mutable_tuple_shapes(i)->set_element_type(xla::F32);
  }
  HloComputation* const body = WithState(*loop->while_body(), state);
  *body->root_instruction()->mutable_shape() = state;
  const std::vector<HloInstruction*> elements = body->parameter_instruction(0)->users();
  for (HloInstruction* element : elements) {
    if (!absl::c_linear_search(rounded, element->tuple_index())) continue;
    element->mutable_shape()->set_element_type(xla::F32);
    HloInstruction* const narrow = emit::Convert(element, xla::BF16);
    const std::vector<HloInstruction*> users = element->users();
    for (HloInstruction* user : users) {
      if (user->opcode() != HloOpcode::kDynamicSlice) continue;
      if (!user->ReplaceOperandWith(0, narrow).ok()) return nullptr;
    }
  }
  HloComputation* const parent = loop->parent();
  HloInstruction* const within =
      LoopLike(loop, WithState(*loop->while_condition(), state), body, first);
  std::vector<HloInstruction*> results;
  for (int64_t i = 0; i < before->operand_count(); ++i) {
    results.push_back(
        absl::c_linear_search(rounded, i)
            ? loop->mutable_operand(0)->mutable_operand(i)
            : parent->AddInstruction(HloInstruction::CreateGetTupleElement(within, i)));
  }
  return parent->AddInstruction(HloInstruction::CreateTuple(results));
}

}  // namespace

std::vector<HloOpcode> RoundedWeightsRoots() {
  return {HloOpcode::kConvert, HloOpcode::kDynamicSlice, HloOpcode::kWhile};
}

HloInstruction* RoundedElsewhere(HloInstruction* root) {
  switch (root->opcode()) {
    case HloOpcode::kConvert:
      return BeforeTranspose(root);
    case HloOpcode::kDynamicSlice:
      return AfterSlice(root);
    case HloOpcode::kWhile:
      return WithinLoop(root);
    default:
      return nullptr;
  }
}

bool IsToBeRoundedWithin(const HloInstruction& value) {
  const HloInstruction* slice = &value;
  while (IsIdentity(*slice) || IsRounding(*slice) || slice->opcode() == HloOpcode::kTranspose) {
    slice = slice->operand(0);
  }
  if (slice->opcode() != HloOpcode::kDynamicSlice) return false;
  const HloInstruction* const element = slice->operand(0);
  if (element->opcode() != HloOpcode::kGetTupleElement) return false;
  return absl::c_any_of(
      value.parent()->caller_instructions(HloOpcode::kWhile), [&](const HloInstruction* loop) {
        return loop->while_body() == value.parent() &&
               element->operand(0) == loop->while_body()->parameter_instruction(0) &&
               absl::c_linear_search(RoundedBefore(*loop), element->tuple_index());
      });
}

}  // namespace hone::compiler
