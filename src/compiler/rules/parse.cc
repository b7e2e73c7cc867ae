#include "compiler/rules/parse.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/rules/lex.h"
#include "compiler/rules/parse_expression.h"
#include "compiler/rules/parse_graph.h"
#include "core/nearest.h"

namespace hone::compiler {
namespace {

class RuleParser {
 public:
  RuleParser(TokenReader& reader, std::string_view group)
      : reader_(reader), graphs_(reader, rule_) {
    rule_.group = std::string(group);
  }

  // Behind the word `rule`.
  StatusOr<Rule> Run() {
    rule_.place = reader_.Peek().place;
    StatusOr<std::string> name = reader_.ExpectWord("the rule's name");
    if (!name) return tl::unexpected(name.error());
    rule_.name = *name;
    if (auto open = reader_.Expect("{", "opens the rule"); !open) return Fail(open);
    for (reader_.SkipNewlines(); !reader_.TakeSign("}"); reader_.SkipNewlines()) {
      if (Status part = Part(); !part) return Fail(part);
    }
    if (rule_.pattern.nodes.empty()) return Missing("pattern { … }");
    if (!replaced_) return Missing("replacement { … }");
    if (rule_.meaning.empty()) return Missing("meaning \"…\" that says it in a line");
    return std::move(rule_);
  }

 private:
  static tl::unexpected<Error> Fail(const Status& status) { return tl::unexpected(status.error()); }

  tl::unexpected<Error> Missing(std::string_view what) const {
    return reader_.ErrorAt(rule_.place,
                           absl::StrCat("rule '", rule_.name, "' has no ", what, ": add it"));
  }

  Status Part() {
    const Place place = reader_.Peek().place;
    StatusOr<std::string> word = reader_.ExpectWord(
        "a part of the rule (meaning, source, pattern, where, replacement, law, gain, shared, "
        "on_demand) or its '}'");
    if (!word) return tl::unexpected(word.error());
    if (*word == "meaning") return Text(rule_.meaning);
    if (*word == "source") return Text(rule_.source);
    if (*word == "pattern") return graphs_.Run(rule_.pattern, false);
    if (*word == "replacement") {
      if (rule_.pattern.nodes.empty()) {
        return reader_.ErrorAt(place,
                               "the replacement comes after the pattern that binds its names");
      }
      replaced_ = true;
      return graphs_.Run(rule_.replacement, true);
    }
    if (*word == "where") return Conditions();
    if (*word == "law") return LawPart(place);
    if (*word == "shared") {
      rule_.shared = true;
      return {};
    }
    if (*word == "on_demand") {
      rule_.on_demand = true;
      return {};
    }
    if (*word == "gain") {
      if (reader_.Peek().kind != Token::Kind::kInteger) {
        return reader_.ErrorHere("'gain' takes the number of instructions saved at least: 0, 1, …");
      }
      rule_.gain = static_cast<int>(reader_.Next().integer);
      return {};
    }
    return reader_.ErrorAt(place, absl::StrCat("a rule has no part '", *word, "'",
                                               DidYouMean(*word, {"meaning", "source", "pattern",
                                                                  "where", "replacement", "law",
                                                                  "gain", "shared", "on_demand"})));
  }

  Status Text(std::string& into) {
    if (reader_.Peek().kind != Token::Kind::kText) {
      return reader_.ErrorHere("here should be a text in \"quotes\"");
    }
    into = reader_.Next().text;
    return {};
  }

  // `float(x)` and its like, said of a hole, belong to the hole: matching sees them first.
  bool IsOfHole(const Expression& condition) {
    if (condition.kind != Expression::Kind::kCall || condition.arguments.empty() ||
        condition.arguments[0].kind == Expression::Kind::kList) {
      return false;
    }
    const std::string& name = condition.arguments[0].name;
    if (condition.name == "one_use") {
      const int node = GraphParser::FindNode(rule_.pattern, name);
      if (node < 0) return false;
      rule_.pattern.nodes[node].one_use = true;
      return true;
    }
    const int index = graphs_.FindHole(name);
    if (index < 0 || condition.arguments[0].kind != Expression::Kind::kWord) return false;
    Hole& hole = rule_.holes[index];
    static const std::map<std::string, ElementClass> classes = {{"float", ElementClass::kFloat},
                                                                {"integer", ElementClass::kInteger},
                                                                {"number", ElementClass::kNumber},
                                                                {"pred", ElementClass::kPred}};
    if (const auto found = classes.find(condition.name); found != classes.end()) {
      hole.element_class = found->second;
    } else if (condition.name == "constant") {
      hole.constant = true;
    } else if (condition.name == "splat") {
      hole.splat = true;
    } else if (condition.name == "scalar") {
      hole.rank = 0;
    } else {
      return false;
    }
    return true;
  }

  Status Conditions() {
    if (rule_.pattern.nodes.empty()) {
      return reader_.ErrorHere("`where` comes after the pattern that binds its names");
    }
    return reader_.Block([&]() -> Status {
      Rule::Condition condition;
      if (reader_.Peek().kind == Token::Kind::kWord && reader_.IsSign("=", 1)) {
        const Place place = reader_.Peek().place;
        condition.binds = reader_.Next().text;
        reader_.Next();
        if (!IsVariable(condition.binds)) {
          return reader_.ErrorAt(place,
                                 "only VARIABLES, in capitals, are bound here: for equality "
                                 "write ==");
        }
      }
      StatusOr<Expression> expression = ParseExpression(reader_);
      if (!expression) return tl::unexpected(expression.error());
      if (Status known = graphs_.CheckKnown(*expression); !known) return known;
      if (!condition.binds.empty()) graphs_.Bind(condition.binds);
      if (condition.binds.empty() && IsOfHole(*expression)) return {};
      condition.expression = std::move(*expression);
      rule_.conditions.push_back(std::move(condition));
      return {};
    });
  }

  Status LawPart(Place place) {
    Law law;
    law.place = place;
    if (reader_.Peek().kind == Token::Kind::kText) {
      law.hlo = reader_.Next().text;
      rule_.laws.push_back(std::move(law));
      return {};
    }
    Status status = reader_.Block([&]() -> Status {
      Law::Binding binding;
      binding.place = reader_.Peek().place;
      StatusOr<std::string> name = reader_.ExpectWord("a hole or a VARIABLE");
      if (!name) return tl::unexpected(name.error());
      binding.name = *name;
      if (auto equals = reader_.Expect("=", "stands between a name and its value"); !equals) {
        return equals;
      }
      const bool variable = IsVariable(*name);
      if (!variable && graphs_.FindHole(*name) < 0) {
        return reader_.ErrorAt(binding.place,
                               absl::StrCat("the pattern has no hole '", *name, "'",
                                            DidYouMean(*name, graphs_.PatternNames())));
      }
      StatusOr<Expression> value = ParseExpression(reader_);
      if (!value) return tl::unexpected(value.error());
      if (variable) {
        binding.value = std::move(*value);
      } else {
        binding.element_type = std::move(*value);
        StatusOr<Expression> dimensions = ParseDimensions(reader_);
        if (!dimensions) return tl::unexpected(dimensions.error());
        binding.dimensions = std::move(*dimensions);
      }
      law.bindings.push_back(std::move(binding));
      return {};
    });
    if (status) rule_.laws.push_back(std::move(law));
    return status;
  }

  TokenReader& reader_;
  Rule rule_;
  GraphParser graphs_;
  bool replaced_ = false;
};

}  // namespace

StatusOr<std::vector<Rule>> ParseRules(std::string_view text, std::string_view group,
                                       std::string_view file) {
  StatusOr<std::vector<Token>> tokens = Lex(text, file);
  if (!tokens) return tl::unexpected(tokens.error());
  TokenReader reader(std::move(*tokens), file);
  std::vector<Rule> rules;
  for (reader.SkipNewlines(); reader.Peek().kind != Token::Kind::kEnd; reader.SkipNewlines()) {
    if (!reader.TakeWord("rule")) {
      return reader.ErrorHere(
          absl::StrCat("a rule begins with `rule NAME {`, not with '", reader.Peek().text, "'"));
    }
    StatusOr<Rule> rule = RuleParser(reader, group).Run();
    if (!rule) return tl::unexpected(rule.error());
    for (const Rule& other : rules) {
      if (other.name == rule->name) {
        return reader.ErrorAt(rule->place, absl::StrCat("there is a rule '", rule->name,
                                                        "' above: give one another name"));
      }
    }
    rules.push_back(std::move(*rule));
  }
  return rules;
}

}  // namespace hone::compiler
