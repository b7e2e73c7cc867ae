#include "compiler/rules/parse_expression.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/rules/expression.h"
#include "core/nearest.h"

namespace hone::compiler {
namespace {

// Operators by how weakly they bind.
struct Operator {
  std::string_view sign;
  std::string_view function;
};
const std::vector<std::vector<Operator>>& Operators() {
  static const std::vector<std::vector<Operator>> levels = {
      {{"||", "or"}},
      {{"&&", "and"}},
      {{"==", "eq"}, {"!=", "ne"}, {"<=", "le"}, {">=", "ge"}, {"<", "lt"}, {">", "gt"}},
      {{"+", "add"}, {"-", "sub"}},
      {{"*", "mul"}, {"/", "div"}, {"%", "mod"}}};
  return levels;
}

Expression CallOf(std::string_view function, std::vector<Expression> arguments, Place place) {
  Expression call;
  call.kind = Expression::Kind::kCall;
  call.name = std::string(function);
  call.arguments = std::move(arguments);
  call.place = place;
  return call;
}

// Up to the closing sign, with commas between.
StatusOr<std::vector<Expression>> List(TokenReader& reader, std::string_view close) {
  std::vector<Expression> elements;
  reader.SkipNewlines();
  while (!reader.TakeSign(close)) {
    if (!elements.empty()) {
      if (auto comma = reader.Expect(",", absl::StrCat("or '", close, "' after an element"));
          !comma) {
        return tl::unexpected(comma.error());
      }
      reader.SkipNewlines();
    }
    StatusOr<Expression> element = ParseExpression(reader);
    if (!element) return tl::unexpected(element.error());
    elements.push_back(std::move(*element));
    reader.SkipNewlines();
  }
  return elements;
}

StatusOr<Expression> Word(TokenReader& reader) {
  Expression result;
  result.place = reader.Peek().place;
  result.name = reader.Next().text;
  if (result.name == "inf") {
    result.kind = Expression::Kind::kReal;
    result.real = std::numeric_limits<double>::infinity();
    return result;
  }
  if (!reader.TakeSign("(")) {
    result.kind = IsVariable(result.name) ? Expression::Kind::kVariable : Expression::Kind::kWord;
    return result;
  }
  StatusOr<std::vector<Expression>> arguments = List(reader, ")");
  if (!arguments) return tl::unexpected(arguments.error());
  const int arity = FunctionArity(result.name);
  if (arity < 0) {
    return reader.ErrorAt(result.place, absl::StrCat("there is no function '", result.name, "'",
                                                     DidYouMean(result.name, FunctionNames()),
                                                     ": docs/rules.md lists them"));
  }
  if (arity != static_cast<int>(arguments->size())) {
    return reader.ErrorAt(result.place,
                          absl::StrCat("'", result.name, "' takes ", arity, " argument",
                                       arity == 1 ? "" : "s", ", not ", arguments->size()));
  }
  return CallOf(result.name, std::move(*arguments), result.place);
}

StatusOr<Expression> Primary(TokenReader& reader) {
  const Token token = reader.Peek();
  Expression result;
  result.place = token.place;
  if (token.kind == Token::Kind::kInteger) {
    result.integer = reader.Next().integer;
    return result;
  }
  if (token.kind == Token::Kind::kReal) {
    result.kind = Expression::Kind::kReal;
    result.real = reader.Next().real;
    return result;
  }
  if (token.kind == Token::Kind::kWord) return Word(reader);
  if (reader.TakeSign("{")) {
    StatusOr<std::vector<Expression>> elements = List(reader, "}");
    if (!elements) return tl::unexpected(elements.error());
    result.kind = Expression::Kind::kList;
    result.arguments = std::move(*elements);
    return result;
  }
  if (reader.TakeSign("(")) {
    reader.SkipNewlines();
    StatusOr<Expression> inner = ParseExpression(reader);
    if (!inner) return inner;
    reader.SkipNewlines();
    if (auto close = reader.Expect(")", "closes the bracket"); !close) {
      return tl::unexpected(close.error());
    }
    return inner;
  }
  return reader.ErrorHere(absl::StrCat("an expression should begin here, not '", token.text,
                                       "': a number, a {list}, a VARIABLE or a function"));
}

StatusOr<Expression> Unary(TokenReader& reader) {
  const Place place = reader.Peek().place;
  const bool negate = reader.TakeSign("-");
  if (!negate && !reader.TakeSign("!")) return Primary(reader);
  StatusOr<Expression> operand = Unary(reader);
  if (!operand) return operand;
  if (negate && operand->kind == Expression::Kind::kInteger) {
    operand->integer = -operand->integer;
    return operand;
  }
  if (negate && operand->kind == Expression::Kind::kReal) {
    operand->real = -operand->real;
    return operand;
  }
  return CallOf(negate ? "neg" : "not", {std::move(*operand)}, place);
}

StatusOr<Expression> Binary(TokenReader& reader, size_t level) {
  if (level == Operators().size()) return Unary(reader);
  StatusOr<Expression> left = Binary(reader, level + 1);
  while (left) {
    const auto& operators = Operators()[level];
    const auto found = std::find_if(operators.begin(), operators.end(),
                                    [&](const Operator& one) { return reader.IsSign(one.sign); });
    if (found == operators.end()) break;
    const Place place = reader.Next().place;
    reader.SkipNewlines();
    StatusOr<Expression> right = Binary(reader, level + 1);
    if (!right) return right;
    left = CallOf(found->function, {std::move(*left), std::move(*right)}, place);
  }
  return left;
}

}  // namespace

const Token& TokenReader::Peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

const Token& TokenReader::Next() {
  const Token& token = Peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenReader::IsSign(std::string_view sign, size_t ahead) const {
  return Peek(ahead).kind == Token::Kind::kSign && Peek(ahead).text == sign;
}

bool TokenReader::IsWord(std::string_view word, size_t ahead) const {
  return Peek(ahead).kind == Token::Kind::kWord && Peek(ahead).text == word;
}

bool TokenReader::TakeSign(std::string_view sign) {
  if (!IsSign(sign)) return false;
  Next();
  return true;
}

bool TokenReader::TakeWord(std::string_view word) {
  if (!IsWord(word)) return false;
  Next();
  return true;
}

void TokenReader::SkipNewlines() {
  while (Peek().kind == Token::Kind::kNewline) Next();
}

Status TokenReader::Expect(std::string_view sign, std::string_view why) {
  if (TakeSign(sign)) return {};
  return ErrorHere(absl::StrCat("'", sign, "' is missing before '", Peek().text, "': it ", why));
}

StatusOr<std::string> TokenReader::ExpectWord(std::string_view what) {
  if (Peek().kind == Token::Kind::kWord) return Next().text;
  return ErrorHere(absl::StrCat("here should be ", what, ", not '", Peek().text, "'"));
}

Status TokenReader::Block(const std::function<Status()>& one) {
  if (auto open = Expect("{", "opens the block"); !open) return open;
  while (true) {
    while (Peek().kind == Token::Kind::kNewline || IsSign(";")) Next();
    if (TakeSign("}")) return {};
    if (Status status = one(); !status) return status;
    if (Peek().kind != Token::Kind::kNewline && !IsSign(";") && !IsSign("}")) {
      return ErrorHere(absl::StrCat("'", Peek().text,
                                    "' does not belong to what is before it: begin a new "
                                    "line, or put an operator or a comma between"));
    }
  }
}

tl::unexpected<Error> TokenReader::ErrorHere(const std::string& message) const {
  return ErrorAt(Peek().place, message);
}

tl::unexpected<Error> TokenReader::ErrorAt(Place place, const std::string& message) const {
  return RuleError(file_, place, message);
}

// Directions of comparisons are enumerators, though in capitals as in HLO.
bool IsVariable(std::string_view word) {
  for (const std::string_view direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
    if (word == direction) return false;
  }
  return !word.empty() && std::isupper(static_cast<unsigned char>(word[0])) != 0;
}

StatusOr<Expression> ParseExpression(TokenReader& reader) { return Binary(reader, 0); }

StatusOr<Expression> ParseDimensions(TokenReader& reader) {
  const Place place = reader.Peek().place;
  if (auto open = reader.Expect("[", "opens the dimensions"); !open) {
    return tl::unexpected(open.error());
  }
  StatusOr<std::vector<Expression>> elements = List(reader, "]");
  if (!elements) return tl::unexpected(elements.error());
  if (elements->size() == 1 && elements->front().kind != Expression::Kind::kInteger) {
    return std::move(elements->front());
  }
  Expression list;
  list.kind = Expression::Kind::kList;
  list.arguments = std::move(*elements);
  list.place = place;
  return list;
}

}  // namespace hone::compiler
