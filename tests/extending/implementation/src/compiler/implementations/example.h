// An example: a product with itself as a power.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_EXAMPLE_H_
#define HONE_COMPILER_IMPLEMENTATIONS_EXAMPLE_H_

#include <string>

#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

class SquareAsPower : public InstructionRule {
 public:
  std::string name() const override { return "square_as_power"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_EXAMPLE_H_
