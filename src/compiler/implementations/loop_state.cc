#include "compiler/implementations/loop_state.h"

#include "absl/algorithm/container.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

using xla::HloComputation;
using xla::HloInstruction;

bool IsTakenApart(const HloInstruction& tuple) {
  return absl::c_all_of(tuple.users(), [](const HloInstruction* user) {
    return user->opcode() == xla::HloOpcode::kGetTupleElement;
  });
}

HloComputation* WithState(HloComputation& computation, const xla::Shape& state) {
  HloComputation* const copy = computation.parent()->AddEmbeddedComputation(computation.Clone());
  *copy->parameter_instruction(0)->mutable_shape() = state;
  return copy;
}

HloInstruction* LoopLike(HloInstruction* other, HloComputation* condition, HloComputation* body,
                         const std::vector<HloInstruction*>& first) {
  HloComputation* const parent = other->parent();
  HloInstruction* const loop = parent->AddInstruction(
      HloInstruction::CreateWhile(body->parameter_instruction(0)->shape(), condition, body,
                                  parent->AddInstruction(HloInstruction::CreateTuple(first))));
  other->SetupDerivedInstruction(loop);
  loop->CopyBackendConfigFrom(other);
  return loop;
}

}  // namespace hone::compiler
