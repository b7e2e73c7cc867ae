// To add a rule: include its header, add its line.
#include "compiler/rules/written_rules.h"

namespace hone::compiler {

std::vector<std::unique_ptr<InstructionRule>> WrittenRules() {
  std::vector<std::unique_ptr<InstructionRule>> rules;
  // rules.push_back(std::make_unique<SomeRule>());
  return rules;
}

}  // namespace hone::compiler
