#include "compiler/rules/lex.h"

#include <cctype>
#include <charconv>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hone::compiler {
namespace {

bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  StatusOr<std::vector<Token>> Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!tokens_.empty() && tokens_.back().kind != Token::Kind::kNewline) {
          Add(Token::Kind::kNewline, "a new line");
        }
        Advance(1);
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        Advance(1);
      } else if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') Advance(1);
      } else if (c == '"') {
        if (auto done = Text(); !done) return tl::unexpected(done.error());
      } else if (IsWordStart(c)) {
        Word();
      } else if (IsDigit(c)) {
        if (auto done = Number(); !done) return tl::unexpected(done.error());
      } else if (!Sign()) {
        return RuleError(
            file_, Here(),
            absl::StrCat("'", std::string(1, c), "' has no meaning here: take it out"));
      }
    }
    Add(Token::Kind::kEnd, "the end of the file");
    return std::move(tokens_);
  }

 private:
  Place Here() const { return {line_, column_}; }

  void Advance(size_t count) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        column_ = 1;
      } else {
        ++column_;
      }
    }
  }

  Token& Add(Token::Kind kind, std::string text) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.text = std::move(text);
    token.place = Here();
    return token;
  }

  Status Text() {
    const std::string_view quote = text_.substr(at_, 3) == "\"\"\"" ? "\"\"\"" : "\"";
    const size_t begin = at_ + quote.size();
    const size_t end = text_.find(quote, begin);
    const std::string_view inside = text_.substr(begin, end == text_.npos ? end : end - begin);
    if (end == text_.npos || (quote.size() == 1 && inside.find('\n') != text_.npos)) {
      return RuleError(file_, Here(), absl::StrCat("this text has no end: close it with ", quote));
    }
    Add(Token::Kind::kText, std::string(inside));
    Advance(end + quote.size() - at_);
    return {};
  }

  // A '-' belongs to a word in lower case that goes on behind it: dynamic-slice.
  void Word() {
    size_t end = at_;
    const auto in_word = [&](size_t i) {
      return i < text_.size() && (IsWordStart(text_[i]) || IsDigit(text_[i]));
    };
    while (in_word(end) ||
           (text_.substr(end, 1) == "-" && end + 1 < text_.size() && IsWordStart(text_[end + 1]) &&
            std::islower(static_cast<unsigned char>(text_[at_])) != 0)) {
      ++end;
    }
    Add(Token::Kind::kWord, std::string(text_.substr(at_, end - at_)));
    Advance(end - at_);
  }

  Status Number() {
    size_t end = at_;
    bool real = false;
    while (end < text_.size()) {
      const char c = text_[end];
      if (IsDigit(c)) {
        ++end;
      } else if (c == '.' && text_.substr(end, 3) != "...") {
        real = true;
        ++end;
      } else if (c == 'e' && end + 1 < text_.size() &&
                 (IsDigit(text_[end + 1]) || text_[end + 1] == '-')) {
        real = true;
        end += 2;
      } else {
        break;
      }
    }
    const std::string_view digits = text_.substr(at_, end - at_);
    Token& token = Add(real ? Token::Kind::kReal : Token::Kind::kInteger, std::string(digits));
    const bool good =
        real ? absl::SimpleAtod(digits, &token.real) : absl::SimpleAtoi(digits, &token.integer);
    if (!good) {
      return RuleError(file_, Here(), absl::StrCat("'", digits, "' is not a number of 64 bits"));
    }
    Advance(end - at_);
    return {};
  }

  bool Sign() {
    for (const std::string_view sign :
         {"...", "==", "!=", "<=", ">=", "&&", "||", "(", ")", "{", "}", "[", "]",
          ",",   ":",  ";",  "=",  "<",  ">",  "+",  "-", "*", "/", "%", "!"}) {
      if (text_.substr(at_, sign.size()) != sign) continue;
      Add(Token::Kind::kSign, std::string(sign));
      Advance(sign.size());
      return true;
    }
    return false;
  }

  const std::string_view text_;
  const std::string_view file_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

StatusOr<std::vector<Token>> Lex(std::string_view text, std::string_view file) {
  return Lexer(text, file).Run();
}

tl::unexpected<Error> RuleError(std::string_view file, Place place, const std::string& message) {
  return MakeError(ErrorCode::kInvalidInput,
                   absl::StrCat(file, ":", place.line, ":", place.column, ": ", message));
}

}  // namespace hone::compiler
