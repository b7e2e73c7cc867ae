// The rules that travel inside the worker, as text: no XLA here.
#ifndef HONE_COMPILER_RULES_RULE_FILES_H_
#define HONE_COMPILER_RULES_RULE_FILES_H_

#include <string>
#include <vector>

namespace hone::compiler {

struct RuleFile {
  std::string name;  // "rules/algebra.rules": its stem is the group
  std::string text;
};

// rules/*.rules of the source tree, embedded at build time (embedded_rules.cc, which is generated).
const std::vector<RuleFile>& ShippedRuleFiles();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_RULE_FILES_H_
