// Reads rule files. The format is described in docs/rules.md.
#ifndef HONE_COMPILER_RULES_PARSE_H_
#define HONE_COMPILER_RULES_PARSE_H_

#include <string_view>
#include <vector>

#include "compiler/rules/pattern.h"
#include "core/result.h"

namespace hone::compiler {

// All rules of a file, in its order. `group` (the stem of the file's name) becomes Rule::group;
// `file` is its name in messages. Errors are kInvalidInput, with file, line, column and what is to
// be done.
StatusOr<std::vector<Rule>> ParseRules(std::string_view text, std::string_view group,
                                       std::string_view file);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_PARSE_H_
