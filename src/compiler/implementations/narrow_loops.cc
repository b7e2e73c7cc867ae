// Loops that write into arrays of narrow floats. XLA:CPU has no such writes but of f16: it makes
// f32 of the whole array, writes, and rounds the whole array again, on each trip. As integers of
// the same bits it is written where it lies.
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using xla::PrimitiveType;

constexpr int64_t kLeastElements = 64;

// The parts of its state that a loop writes into. None where it is not one that puts its state
// together from parts.
std::vector<int64_t> Written(const HloInstruction& loop) {
  const HloInstruction& next = *loop.while_body()->root_instruction();
  if (!loop.shape().IsTuple() || next.opcode() != HloOpcode::kTuple) return {};
  for (const HloComputation* computation : {loop.while_body(), loop.while_condition()}) {
    const HloInstruction& state = *computation->parameter_instruction(0);
    if (state.IsRoot() || !IsTakenApart(state)) return {};
  }
  std::vector<int64_t> written;
  for (int64_t k = 0; k < next.operand_count(); ++k) {
    const HloInstruction& part = *next.operand(k);
    if (!part.shape().IsArray() || !IsWidened(part.shape().element_type()) ||
        xla::ShapeUtil::ElementsIn(part.shape()) < kLeastElements) {
      continue;
    }
    // Or a loop within does.
    if (part.opcode() == HloOpcode::kDynamicUpdateSlice || AreFloatsOfBits(part)) {
      written.push_back(k);
    }
  }
  return written;
}

// Whether it only moves elements of its first operand.
bool Moves(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kCopy:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kGather:
    case HloOpcode::kReshape:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

// What only moves floats that are made of bits moves the bits instead, and so on: a slice is made
// floats of, and not the whole before it.
absl::Status MoveBits(std::deque<HloInstruction*> floats) {
  while (!floats.empty()) {
    HloInstruction* const from = floats.front();
    floats.pop_front();
    const std::vector<HloInstruction*> users = from->users();
    for (HloInstruction* user : users) {
      if (!Moves(*user) || user->operand(0) != from || !emit::Free(*user)) continue;
      std::vector<HloInstruction*> operands(user->operands().begin(), user->operands().end());
      operands[0] = BitsOf(from);
      if (user->opcode() == HloOpcode::kDynamicUpdateSlice) operands[1] = BitsOf(operands[1]);
      const PrimitiveType type = user->shape().element_type();
      HloInstruction* const moved = user->parent()->AddInstruction(user->CloneWithNewOperands(
          xla::ShapeUtil::ChangeElementType(user->shape(), BitsType(type)), operands));
      floats.push_back(emit::BitcastConvert(moved, type));
      TF_RETURN_IF_ERROR(user->ReplaceAllUsesWithDifferentShape(floats.back()));
      TF_RETURN_IF_ERROR(user->parent()->RemoveInstruction(user));
    }
    if (from->IsDead()) TF_RETURN_IF_ERROR(from->parent()->RemoveInstruction(from));
  }
  return absl::OkStatus();
}

// A copy of a loop's body or condition that takes those parts of the state as bits.
absl::StatusOr<HloComputation*> TakingBits(HloComputation* of, const xla::Shape& state,
                                           const std::vector<int64_t>& written) {
  HloComputation* const copy = WithState(*of, state);
  std::deque<HloInstruction*> floats;
  for (HloInstruction* part : copy->parameter_instruction(0)->users()) {
    if (!absl::c_linear_search(written, part->tuple_index())) continue;
    const PrimitiveType type = part->shape().element_type();
    part->mutable_shape()->set_element_type(BitsType(type));
    const std::vector<HloInstruction*> users = part->users();
    floats.push_back(emit::BitcastConvert(part, type));
    for (HloInstruction* user : users) {
      TF_RETURN_IF_ERROR(part->ReplaceUseWithDifferentShape(user, floats.back()));
    }
  }
  TF_RETURN_IF_ERROR(MoveBits(std::move(floats)));
  return copy;
}

}  // namespace

absl::StatusOr<HloInstruction*> LoopInBits(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kWhile || !emit::Free(*root)) return nullptr;
  const std::vector<int64_t> written = Written(*root);
  if (written.empty()) return nullptr;
  xla::Shape state = root->shape();
  for (int64_t k : written) {
    xla::Shape& part = *state.mutable_tuple_shapes(static_cast<int>(k));
    part.set_element_type(BitsType(part.element_type()));
  }
  TF_ASSIGN_OR_RETURN(HloComputation* const body, TakingBits(root->while_body(), state, written));
  TF_ASSIGN_OR_RETURN(HloComputation* const condition,
                      TakingBits(root->while_condition(), state, written));
  std::vector<HloInstruction*> next(body->root_instruction()->operands().begin(),
                                    body->root_instruction()->operands().end());
  for (int64_t k : written) next[k] = BitsOf(next[k]);
  body->set_root_instruction(body->AddInstruction(HloInstruction::CreateTuple(next)),
                             /*accept_different_shape=*/true);

  HloComputation* const computation = root->parent();
  std::vector<HloInstruction*> first, last;
  for (int64_t k = 0; k < static_cast<int64_t>(state.tuple_shapes().size()); ++k) {
    first.push_back(ElementOf(root->mutable_operand(0), k));
    if (absl::c_linear_search(written, k)) first.back() = BitsOf(first.back());
  }
  HloInstruction* const loop = LoopLike(root, condition, body, first);
  for (int64_t k = 0; k < static_cast<int64_t>(first.size()); ++k) {
    HloInstruction* part = ElementOf(loop, k);
    if (absl::c_linear_search(written, k)) {
      part = emit::BitcastConvert(part,
                                  root->shape().tuple_shapes(static_cast<int>(k)).element_type());
    }
    last.push_back(part);
  }
  return computation->AddInstruction(HloInstruction::CreateTuple(last));
}

}  // namespace hone::compiler
