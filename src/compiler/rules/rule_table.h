// The rules that hone ships, and passes made of them.
#ifndef HONE_COMPILER_RULES_RULE_TABLE_H_
#define HONE_COMPILER_RULES_RULE_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "compiler/passes/pass_table.h"
#include "compiler/rules/pattern.h"
#include "compiler/rules/rule_files.h"
#include "core/result.h"

namespace hone::compiler {

// Shipped and user's rules, in the order of the files. Names are unique over all files. Errors are
// kInvalidInput.
StatusOr<std::vector<Rule>> LoadRules(const std::vector<RuleFile>& user_files);

// Rows for the registry: `rules` (all that save instructions; users' too), `rules:GROUP` for each
// group, `rule:NAME` for each rule. They own the rules that they apply.
StatusOr<std::vector<PassEntry>> RulePasses(const std::vector<RuleFile>& user_files);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_RULE_TABLE_H_
