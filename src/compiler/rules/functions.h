// The functions of rule files that take values alone. Those that ask about holes are in
// expression.h.
#ifndef HONE_COMPILER_RULES_FUNCTIONS_H_
#define HONE_COMPILER_RULES_FUNCTIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/rules/expression.h"

namespace hone::compiler {

// Nullopt where the arguments do not fit, or there is no such function. There are as many arguments
// as its arity says.
std::optional<Value> CallValueFunction(std::string_view name, const std::vector<Value>& arguments);

// -1 where there is no such function.
int ValueFunctionArity(std::string_view name);
std::vector<std::string> ValueFunctionNames();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_FUNCTIONS_H_
