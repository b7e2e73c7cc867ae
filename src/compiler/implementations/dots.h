// Matrix products in another type or form.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_

#include <string>

#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

// Narrow floats converted to f32 and back.
class DotInF32 : public InstructionRule {
 public:
  std::string name() const override { return "dot_in_f32"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// Many small products at once as a multiplication and a sum: a call per product costs more than it.
class BatchedDotReduce : public InstructionRule {
 public:
  std::string name() const override { return "batched_dot_reduce"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// A product with few terms as their sum: one loop over the result, where a library that packs its
// operands takes many times as long.
class ThinDotSum : public InstructionRule {
 public:
  std::string name() const override { return "thin_dot_sum"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// Transposed operands as they were, other dimensions contracted: of a matrix times a vector XLA:CPU copies a
// transposed matrix first. As the rules dot_of_transpose_left and _right have it, and also where it saves no
// instruction, for the transpose has other users.
class DotOfTransposes : public InstructionRule {
 public:
  std::string name() const override { return "dot_of_transposes"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// The operands changed round, the result transposed; of a matrix times a vector, the vector times the matrix.
class DotSwapped : public InstructionRule {
 public:
  std::string name() const override { return "dot_swapped"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_
