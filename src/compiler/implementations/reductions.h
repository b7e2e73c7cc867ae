// Reductions in forms that XLA:CPU fuses with what makes their operand, and makes fast loops of: by
// itself it writes the operand out and adds up one element after another.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_REDUCTIONS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_REDUCTIONS_H_

#include <string>

#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

// A sum over the last dimensions as a product with a vector of ones.
class ReduceDotOnes : public InstructionRule {
 public:
  std::string name() const override { return "reduce_dot_ones"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// The operand in eight slices, put together element by element, and the reduction of what comes of
// it.
class ReduceSlices : public InstructionRule {
 public:
  std::string name() const override { return "reduce_slices"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_REDUCTIONS_H_
