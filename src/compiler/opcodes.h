// Questions about opcodes.
#ifndef HONE_COMPILER_OPCODES_H_
#define HONE_COMPILER_OPCODES_H_

#include <optional>

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

template <xla::HloOpcode... kOpcodes>
bool IsOneOf(xla::HloOpcode opcode) {
  return ((opcode == kOpcodes) || ...);
}

// The opcode by which the root of a computation of two parameters combines them, in either order: a
// sum, a product, a maximum or minimum, `and` or `or`. None where it does something else.
inline std::optional<xla::HloOpcode> CombinerOpcode(const xla::HloComputation& computation) {
  using xla::HloOpcode;
  const xla::HloInstruction* const root = computation.root_instruction();
  if (computation.num_parameters() != 2 || root->operand_count() != 2 ||
      root->operand(0) == root->operand(1) || root->operand(0)->opcode() != HloOpcode::kParameter ||
      root->operand(1)->opcode() != HloOpcode::kParameter ||
      !IsOneOf<HloOpcode::kAdd, HloOpcode::kMultiply, HloOpcode::kMaximum, HloOpcode::kMinimum,
               HloOpcode::kAnd, HloOpcode::kOr>(root->opcode())) {
    return std::nullopt;
  }
  return root->opcode();
}

}  // namespace hone::compiler

#endif  // HONE_COMPILER_OPCODES_H_
