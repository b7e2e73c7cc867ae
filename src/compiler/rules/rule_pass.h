// hone's own rewrites as passes of the registry.
#ifndef HONE_COMPILER_RULES_RULE_PASS_H_
#define HONE_COMPILER_RULES_RULE_PASS_H_

#include <array>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/pass/hlo_pass_interface.h"

namespace hone::compiler {

// One law-abiding rewrite of single instructions.
class InstructionRule {
 public:
  virtual ~InstructionRule() = default;
  virtual std::string name() const = 0;  // snake_case
  // The opcodes of roots that it may apply to. Empty: any.
  virtual std::vector<xla::HloOpcode> root_opcodes() const { return {}; }
  // An instruction of the same computation with the same shape and value as `root`, made (with
  // HloComputation::AddInstruction) if need be; null where the rule does not apply. Changes nothing
  // that was there before.
  virtual absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const = 0;
};

// Applies rules to every instruction of every computation but fusions, operands before users, until
// nothing changes or `most_rounds` are over. Replacing is done with
// HloComputation::ReplaceInstruction, so that every application is a rewrite site. What is declined
// is not tried again in the same run.
class RulePass : public xla::HloModulePass {
 public:
  RulePass(std::string name, const std::vector<const InstructionRule*>& rules, int most_rounds = 8);
  absl::string_view name() const override { return name_; }

 protected:
  absl::StatusOr<bool> RunImpl(
      xla::HloModule* module,
      const absl::flat_hash_set<absl::string_view>& execution_threads) override;

 private:
  static constexpr size_t kMostOpcodes = 256;

  absl::StatusOr<bool> Sweep(xla::HloComputation* computation,
                             absl::flat_hash_set<std::string>& declined) const;

  const std::string name_;
  std::array<std::vector<const InstructionRule*>, kMostOpcodes> by_opcode_;
  const int most_rounds_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_RULE_PASS_H_
