// Rules that are written in C++, because no pattern says them.
#ifndef HONE_COMPILER_RULES_WRITTEN_RULES_H_
#define HONE_COMPILER_RULES_WRITTEN_RULES_H_

#include <memory>
#include <vector>

#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

// The one list of them.
std::vector<std::unique_ptr<InstructionRule>> WrittenRules();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_WRITTEN_RULES_H_
