// Short loops unrolled.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_

#include <string>

#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

// A while of a known small number of trips as its body, that many times: what the trips have in
// common can then be shared and fused across them.
class UnrollShortLoop : public InstructionRule {
 public:
  std::string name() const override { return "unroll_short_loop"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_
