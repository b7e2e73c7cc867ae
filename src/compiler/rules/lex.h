// Words and signs of a rule file.
#ifndef HONE_COMPILER_RULES_LEX_H_
#define HONE_COMPILER_RULES_LEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/rules/pattern.h"
#include "core/result.h"

namespace hone::compiler {

struct Token {
  enum class Kind {
    kWord,  // multiply, P, dynamic-slice
    kInteger,
    kReal,
    kText,     // "…" or """…"""
    kSign,     // ( ) { } [ ] , : ; = == != < <= > >= + - * / % && || ! ...
    kNewline,  // one for any number of them
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  int64_t integer = 0;
  double real = 0;
  Place place;
};

// Comments (# to the end of the line) are left out. Fails on a text without its end and on a
// character that no rule uses.
StatusOr<std::vector<Token>> Lex(std::string_view text, std::string_view file);

// "file:line:column: message".
tl::unexpected<Error> RuleError(std::string_view file, Place place, const std::string& message);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_LEX_H_
