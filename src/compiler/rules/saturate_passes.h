// Rows of the registry for saturation.
#ifndef HONE_COMPILER_RULES_SATURATE_PASSES_H_
#define HONE_COMPILER_RULES_SATURATE_PASSES_H_

#include <vector>

#include "compiler/passes/pass_table.h"
#include "compiler/rules/rule_table.h"
#include "core/result.h"

namespace hone::compiler {

// `saturate` (op count), `saturate:flops` and `saturate:bytes`, over all rules of files but those
// that are on demand, and the group `saturation`, whose rules are for this alone. Rules written in
// C++ match no e-graph and are left out. The rows own their rules.
StatusOr<std::vector<PassEntry>> SaturatePasses(const std::vector<RuleFile>& user_files);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_SATURATE_PASSES_H_
