// Loops: short ones unrolled, those of small operations as one kernel.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_

#include <string>
#include <vector>

#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

// A while of a known small number of trips as its body, that many times: what the trips have in
// common can then be shared and fused across them.
class UnrollShortLoop : public InstructionRule {
 public:
  std::string name() const override { return "unroll_short_loop"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// A while of small operations as one kernel: a call that XLA:CPU compiles as a whole
// (`xla_cpu_small_call`, xla/service/cpu/thunk_emitter.cc), so that no trip starts a kernel for
// each operation. XLA does so itself where few bytes pass through the loop
// (xla/service/cpu/small_while_loop_hoisting_pass.cc); here the number of bytes does not count. Not
// where the loop has what such a kernel may not have, or products that are better off in a library.
class LoopOneKernel : public InstructionRule {
 public:
  std::string name() const override { return "loop_one_kernel"; }
  std::vector<xla::HloOpcode> root_opcodes() const override { return {xla::HloOpcode::kWhile}; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_LOOPS_H_
