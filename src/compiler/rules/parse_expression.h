// Expressions of rule files: attributes' values and conditions.
#ifndef HONE_COMPILER_RULES_PARSE_EXPRESSION_H_
#define HONE_COMPILER_RULES_PARSE_EXPRESSION_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/rules/lex.h"
#include "compiler/rules/pattern.h"
#include "core/result.h"

namespace hone::compiler {

// A place in the tokens of a file, with what every part of the parser needs.
class TokenReader {
 public:
  TokenReader(std::vector<Token> tokens, std::string_view file)
      : tokens_(std::move(tokens)), file_(file) {}

  const Token& Peek(size_t ahead = 0) const;
  const Token& Next();
  bool IsSign(std::string_view sign, size_t ahead = 0) const;
  bool IsWord(std::string_view word, size_t ahead = 0) const;
  bool TakeSign(std::string_view sign);
  bool TakeWord(std::string_view word);
  void SkipNewlines();
  Status Expect(std::string_view sign, std::string_view why);
  // A word; `what` says in the message what it should have been.
  StatusOr<std::string> ExpectWord(std::string_view what);
  // Statements or conditions between braces, ended by new lines or ';': `one` reads each.
  Status Block(const std::function<Status()>& one);
  tl::unexpected<Error> ErrorHere(const std::string& message) const;
  tl::unexpected<Error> ErrorAt(Place place, const std::string& message) const;

 private:
  const std::vector<Token> tokens_;
  const std::string_view file_;
  size_t at_ = 0;
};

// P, P_1: a variable. Anything else that is a word is an enumerator, a hole, a node or a function.
bool IsVariable(std::string_view word);

// Stops before what cannot go on: a new line outside of brackets, a comma, a closing bracket.
// Operators as in C: || && == != < <= > >= + - * / % ! -.
StatusOr<Expression> ParseExpression(TokenReader& reader);

// `[A,2]`, `[D]`, `[dims(x)]`: one expression that is no number stands for the whole list.
StatusOr<Expression> ParseDimensions(TokenReader& reader);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_PARSE_EXPRESSION_H_
