// A rule of a rule file as an InstructionRule.
#ifndef HONE_COMPILER_RULES_PATTERN_RULE_H_
#define HONE_COMPILER_RULES_PATTERN_RULE_H_

#include <string>
#include <utility>
#include <vector>

#include "compiler/rules/match.h"
#include "compiler/rules/pattern.h"
#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

class PatternRule : public InstructionRule {
 public:
  explicit PatternRule(Rule rule);
  std::string name() const override { return rule_.name; }
  std::vector<xla::HloOpcode> root_opcodes() const override;
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
  const Rule& rule() const { return rule_; }

 private:
  // Saved by an application, with what is shared left out.
  int Gain(const Match& match) const;
  // Whether what was newly added to be shared is paid for by this and the other places of the
  // computation where the rule applies with the same scalars.
  bool PaysOff(const Match& match, int gain, const std::vector<xla::HloInstruction*>& added) const;

  const Rule rule_;
  int adds_ = 0;  // operators of the replacement but numbers and what is shared
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_PATTERN_RULE_H_
