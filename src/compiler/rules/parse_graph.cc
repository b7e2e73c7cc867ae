#include "compiler/rules/parse_graph.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/rules/attributes.h"
#include "compiler/rules/expression.h"
#include "core/nearest.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using xla::HloOpcode;

std::optional<HloOpcode> OpcodeOf(std::string_view name) {
  const auto opcode = xla::StringToHloOpcode(name);
  if (!opcode.ok()) return std::nullopt;
  return *opcode;
}

std::vector<std::string> OpcodeNames() {
  std::vector<std::string> names{"unary", "binary"};
  for (uint32_t i = 0; i < xla::HloOpcodeCount(); ++i) {
    names.emplace_back(xla::HloOpcodeString(static_cast<HloOpcode>(i)));
  }
  return names;
}

}  // namespace

Status GraphParser::Run(Graph& graph, bool replacement) {
  const Place place = reader_.Peek().place;
  if (!graph.nodes.empty()) {
    return reader_.ErrorHere("a rule has one pattern and one replacement: take the second out");
  }
  graph_ = &graph;
  replacement_ = replacement;
  bool rooted = false;
  std::optional<Operand> last;
  Status status = reader_.Block([&]() -> Status {
    if (rooted) return reader_.ErrorHere("nothing may follow the ROOT: put it last");
    rooted = reader_.TakeWord("ROOT");
    std::string name;
    if (reader_.Peek().kind == Token::Kind::kWord && reader_.IsSign("=", 1)) {
      const Place at = reader_.Peek().place;
      name = reader_.Next().text;
      if (FindNode(graph, name) >= 0 || FindHole(name) >= 0) {
        return reader_.ErrorAt(at, absl::StrCat("'", name,
                                                "' has a meaning already: call it "
                                                "something else"));
      }
      reader_.Next();
    }
    StatusOr<Operand> value = Value(name);
    if (!value) return tl::unexpected(value.error());
    last = *value;
    return {};
  });
  if (!status) return status;
  if (!last || (!replacement && last->kind != Operand::Kind::kNode)) {
    return reader_.ErrorAt(place, "the last statement must be an operator: it is the root");
  }
  graph.root = *last;
  return {};
}

int GraphParser::FindNode(const Graph& graph, std::string_view name) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int GraphParser::FindHole(std::string_view name) const {
  for (size_t i = 0; i < rule_.holes.size(); ++i) {
    if (rule_.holes[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

StatusOr<Operand> GraphParser::Value(const std::string& name) {
  const Token token = reader_.Peek();
  if (token.kind == Token::Kind::kInteger || token.kind == Token::Kind::kReal ||
      reader_.IsSign("-") || reader_.IsWord("inf")) {
    Node node;
    node.opcode = HloOpcode::kConstant;
    node.place = token.place;
    StatusOr<Expression> value = ParseExpression(reader_);
    if (!value) return tl::unexpected(value.error());
    node.attributes.push_back({"value", std::move(*value), token.place});
    return AddNode(std::move(node), name);
  }
  if (token.kind != Token::Kind::kWord) {
    return reader_.ErrorHere(
        absl::StrCat("here should be an operator, a name or a number, not '", token.text, "'"));
  }
  if (reader_.IsSign("(", 1) && token.text != "type") return Operator(name);
  if (reader_.IsSign(":", 1) || reader_.IsSign("[", 1) || token.text == "type") {
    return Operator(name);
  }
  return Name(reader_.Next().text, token.place);
}

StatusOr<Operand> GraphParser::Name(const std::string& name, Place place) {
  if (IsVariable(name)) {
    return reader_.ErrorAt(place, absl::StrCat("'", name,
                                               "' is a variable of attributes: name "
                                               "values in lower case"));
  }
  if (const int node = FindNode(*graph_, name); node >= 0) {
    return Operand{Operand::Kind::kNode, node};
  }
  if (const int hole = FindHole(name); hole >= 0) return Operand{Operand::Kind::kHole, hole};
  if (!replacement_) {
    rule_.holes.push_back({name});
    return Operand{Operand::Kind::kHole, static_cast<int>(rule_.holes.size()) - 1};
  }
  if (const int node = FindNode(rule_.pattern, name); node >= 0) {
    return Operand{Operand::Kind::kMatched, node};
  }
  return reader_.ErrorAt(
      place, absl::StrCat("the pattern has no '", name, "'", DidYouMean(name, PatternNames()),
                          ": a replacement can use what the pattern binds"));
}

std::vector<std::string> GraphParser::PatternNames() const {
  std::vector<std::string> names;
  for (const Hole& hole : rule_.holes) names.push_back(hole.name);
  for (const Node& node : rule_.pattern.nodes) names.push_back(node.name);
  return names;
}

StatusOr<Operand> GraphParser::Operator(const std::string& name) {
  Node node;
  node.place = reader_.Peek().place;
  if (Status shape = WrittenShape(node); !shape) return tl::unexpected(shape.error());
  const Place place = reader_.Peek().place;
  StatusOr<std::string> opcode = reader_.ExpectWord("an opcode");
  if (!opcode) return tl::unexpected(opcode.error());
  if (Status known = Opcode(*opcode, place, node); !known) return tl::unexpected(known.error());
  if (auto open = reader_.Expect("(", "opens the operands"); !open) {
    return tl::unexpected(open.error());
  }
  reader_.SkipNewlines();
  bool first = true;
  while (!reader_.TakeSign(")")) {
    if (!first) {
      if (auto comma = reader_.Expect(",", "or ')' follows an operand"); !comma) {
        return tl::unexpected(comma.error());
      }
      reader_.SkipNewlines();
    }
    first = false;
    if (reader_.Peek().kind == Token::Kind::kWord && reader_.IsSign("=", 1)) {
      if (Status attribute = OneAttribute(node); !attribute) {
        return tl::unexpected(attribute.error());
      }
    } else {
      ++depth_;
      StatusOr<Operand> operand = Value("");
      --depth_;
      if (!operand) return operand;
      node.operands.push_back(*operand);
    }
    reader_.SkipNewlines();
  }
  // Behind the operands, as in HLO. What is itself an operand has its attributes inside.
  while (depth_ == 0 && reader_.IsSign(",") && reader_.Peek(1).kind == Token::Kind::kWord &&
         reader_.IsSign("=", 2)) {
    reader_.Next();
    if (Status attribute = OneAttribute(node); !attribute) {
      return tl::unexpected(attribute.error());
    }
  }
  if (Status whole = CheckNode(node, place, *opcode); !whole) return tl::unexpected(whole.error());
  return AddNode(std::move(node), name);
}

Status GraphParser::WrittenShape(Node& node) {
  const bool call = reader_.IsWord("type") && reader_.IsSign("(", 1);
  if (!call && !reader_.IsSign("[", 1)) return {};
  const Place place = reader_.Peek().place;
  StatusOr<Expression> type = ParseExpression(reader_);
  if (!type) return tl::unexpected(type.error());
  if (type->kind == Expression::Kind::kWord && !ElementType(type->name)) {
    return reader_.ErrorAt(place, absl::StrCat("'", type->name,
                                               "' is no element type: f32, bf16, "
                                               "s32, pred, …, type(x) or a VARIABLE"));
  }
  if (Status known = CheckNames(*type); !known) return known;
  StatusOr<Expression> dimensions = ParseDimensions(reader_);
  if (!dimensions) return tl::unexpected(dimensions.error());
  if (Status known = CheckNames(*dimensions); !known) return known;
  node.element_type = std::move(*type);
  node.dimensions = std::move(*dimensions);
  return {};
}

Status GraphParser::Opcode(const std::string& word, Place place, Node& node) {
  if (word == "unary" || word == "binary") {
    node.opcode_class = word == "unary" ? OpcodeClass::kUnary : OpcodeClass::kBinary;
    if (replacement_) {
      return reader_.ErrorAt(place, absl::StrCat("a replacement names the operator that '", word,
                                                 ":F' of the pattern found: F(…)"));
    }
    if (auto colon = reader_.Expect(":", "and a VARIABLE name the operator that is found");
        !colon) {
      return colon;
    }
    StatusOr<std::string> variable = reader_.ExpectWord("a VARIABLE");
    if (!variable) return tl::unexpected(variable.error());
    node.opcode_variable = *variable;
    return {};
  }
  if (IsVariable(word)) {
    for (const Node& known : rule_.pattern.nodes) {
      if (known.opcode_variable != word) continue;
      node.opcode_variable = word;
      node.opcode_class = known.opcode_class;
      return {};
    }
    return reader_.ErrorAt(place, absl::StrCat("no operator of the pattern is called '", word,
                                               "': bind it there with unary:", word,
                                               "(x) or binary:", word, "(x, y)"));
  }
  const std::optional<HloOpcode> opcode = OpcodeOf(word);
  if (!opcode) {
    return reader_.ErrorAt(
        place, absl::StrCat("there is no opcode '", word, "'", DidYouMean(word, OpcodeNames()),
                            ": they are named as in HLO text"));
  }
  node.opcode = *opcode;
  return {};
}

Status GraphParser::OneAttribute(Node& node) {
  Attribute attribute;
  attribute.place = reader_.Peek().place;
  attribute.name = reader_.Next().text;
  reader_.Next();  // =
  StatusOr<Expression> value = ParseExpression(reader_);
  if (!value) return tl::unexpected(value.error());
  attribute.value = std::move(*value);
  if (attribute.value.kind == Expression::Kind::kVariable && !replacement_) {
    variables_.insert(attribute.value.name);
  } else if (Status known = CheckNames(attribute.value); !known) {
    return known;
  }
  node.attributes.push_back(std::move(attribute));
  return {};
}

Status GraphParser::CheckNode(const Node& node, Place place, const std::string& word) {
  if (node.opcode_class == OpcodeClass::kOne) {
    const std::vector<std::string_view>& names = AttributeNames(node.opcode);
    bool like = false;
    for (const Attribute& attribute : node.attributes) {
      like |= attribute.name == "like";
      if (attribute.name == "like" && replacement_) continue;
      if (std::find(names.begin(), names.end(), attribute.name) != names.end()) continue;
      return reader_.ErrorAt(
          attribute.place,
          absl::StrCat("'", word, "' has no attribute '", attribute.name, "' here: ",
                       names.empty() ? "it has none" : "it has " + absl::StrJoin(names, ", ")));
    }
    if (replacement_ && !like) {
      for (const std::string_view name : names) {
        const bool given =
            std::any_of(node.attributes.begin(), node.attributes.end(),
                        [&](const Attribute& attribute) { return attribute.name == name; });
        if (!given) {
          return reader_.ErrorAt(place, absl::StrCat("'", word, "' needs the attribute '", name,
                                                     "', or like=NODE of the pattern"));
        }
      }
    }
  }
  const std::optional<int> arity = node.opcode_class == OpcodeClass::kUnary ? 1
                                   : node.opcode_class == OpcodeClass::kBinary
                                       ? 2
                                       : xla::HloOpcodeArity(node.opcode);
  if (arity && *arity != static_cast<int>(node.operands.size())) {
    return reader_.ErrorAt(
        place, absl::StrCat("'", word, "' takes ", *arity, " operand", *arity == 1 ? "" : "s",
                            ", not ", node.operands.size()));
  }
  return {};
}

StatusOr<Operand> GraphParser::AddNode(Node node, const std::string& name) {
  node.name = name.empty() ? absl::StrCat("_", graph_->nodes.size()) : name;
  if (node.element_type && !replacement_) BindVariables(*node.element_type);
  if (node.dimensions && !replacement_) BindVariables(*node.dimensions);
  graph_->nodes.push_back(std::move(node));
  return Operand{Operand::Kind::kNode, static_cast<int>(graph_->nodes.size()) - 1};
}

void GraphParser::BindVariables(const Expression& expression) {
  if (expression.kind == Expression::Kind::kVariable) variables_.insert(expression.name);
}

Status GraphParser::CheckNames(const Expression& expression) {
  if (expression.kind == Expression::Kind::kVariable && replacement_ &&
      variables_.count(expression.name) == 0) {
    return reader_.ErrorAt(
        expression.place,
        absl::StrCat("nothing binds '", expression.name, "'",
                     DidYouMean(expression.name, {variables_.begin(), variables_.end()}),
                     ": an attribute of the pattern does, or `where { ", expression.name,
                     " = … }`"));
  }
  for (const Expression& argument : expression.arguments) {
    if (Status known = CheckNames(argument); !known) return known;
  }
  return {};
}

}  // namespace hone::compiler
