// The attributes of instructions, by the names that rule files use.
#ifndef HONE_COMPILER_RULES_ATTRIBUTES_H_
#define HONE_COMPILER_RULES_ATTRIBUTES_H_

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/rules/expression.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// Those that a pattern may ask for, and that a replacement must give unless it has `like`.
const std::vector<std::string_view>& AttributeNames(xla::HloOpcode opcode);

// Nullopt where the instruction has none of the name, or one that no Value says (a reduction that
// is more than one binary operation of its two parameters).
std::optional<Value> AttributeOf(const xla::HloInstruction& instruction, std::string_view name);

// The number that all elements of a value are: of constants and broadcasts of scalar constants,
// real or integer or pred. Nullopt otherwise, and for a NaN.
std::optional<Value> SplatValue(const xla::HloInstruction& instruction);

bool IsUnaryClass(xla::HloOpcode opcode);
bool IsBinaryClass(xla::HloOpcode opcode);
bool IsCommutative(xla::HloOpcode opcode);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_ATTRIBUTES_H_
