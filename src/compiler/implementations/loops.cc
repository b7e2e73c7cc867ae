#include "compiler/implementations/loops.h"

#include <map>
#include <optional>
#include <vector>

#include "compiler/implementations/emit.h"
#include "xla/hlo/analysis/while_loop_analysis.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostTrips = 64;
constexpr int64_t kMostInstructions = 4000;  // of all trips together

bool CanCopy(const HloComputation& body) {
  for (const HloInstruction* instruction : body.instructions()) {
    if (instruction->HasSideEffect() || instruction->HasControlDependencies() ||
        instruction->has_sharding() || !instruction->shape().is_static()) {
      return false;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<HloInstruction*> UnrollShortLoop::Replacement(HloInstruction* root) const {
  if (root->opcode() != HloOpcode::kWhile || !emit::Free(*root)) return nullptr;
  HloComputation* body = root->while_body();
  if (!CanCopy(*body)) return nullptr;
  const std::optional<int64_t> trips = xla::ComputeWhileLoopTripCount(root, kMostTrips);
  if (!trips || *trips > kMostTrips ||
      *trips * static_cast<int64_t>(body->instruction_count()) > kMostInstructions) {
    return nullptr;
  }
  HloInstruction* value = root->mutable_operand(0);
  const std::vector<HloInstruction*> order = body->MakeInstructionPostOrder();
  for (int64_t trip = 0; trip < *trips; ++trip) {
    std::map<const HloInstruction*, HloInstruction*> copies;
    copies[body->parameter_instruction(0)] = value;
    for (const HloInstruction* instruction : order) {
      if (instruction->opcode() == HloOpcode::kParameter) continue;
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : instruction->operands()) {
        operands.push_back(copies.at(operand));
      }
      // A part of what the last trip put together needs no tuple.
      if (instruction->opcode() == HloOpcode::kGetTupleElement &&
          operands[0]->opcode() == HloOpcode::kTuple) {
        copies[instruction] = operands[0]->mutable_operand(instruction->tuple_index());
        continue;
      }
      copies[instruction] = root->parent()->AddInstruction(
          instruction->CloneWithNewOperands(instruction->shape(), operands));
    }
    value = copies.at(body->root_instruction());
  }
  return value == root->operand(0) && *trips > 0 ? nullptr : value;
}

}  // namespace hone::compiler
