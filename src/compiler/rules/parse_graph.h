// Patterns and replacements of rule files: operators with their operands and attributes, and the
// names that stand for them.
#ifndef HONE_COMPILER_RULES_PARSE_GRAPH_H_
#define HONE_COMPILER_RULES_PARSE_GRAPH_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/rules/parse_expression.h"
#include "compiler/rules/pattern.h"
#include "core/result.h"

namespace hone::compiler {

class GraphParser {
 public:
  // Both must outlive it. Adds holes to the rule as its pattern names them.
  GraphParser(TokenReader& reader, Rule& rule) : reader_(reader), rule_(rule) {}

  // Behind the word `pattern` or `replacement`.
  Status Run(Graph& graph, bool replacement);

  static int FindNode(const Graph& graph, std::string_view name);
  int FindHole(std::string_view name) const;
  // Of holes and nodes.
  std::vector<std::string> PatternNames() const;

  // A variable that has a value from here on.
  void Bind(const std::string& variable) { variables_.insert(variable); }
  // Behind the pattern: every variable is bound and every hole or node that a function asks about
  // exists.
  Status CheckKnown(const Expression& expression) {
    replacement_ = true;
    return CheckNames(expression);
  }

 private:
  // A hole, a node by name, a number, or an operator with its operands.
  StatusOr<Operand> Value(const std::string& name);
  StatusOr<Operand> Name(const std::string& name, Place place);
  StatusOr<Operand> Operator(const std::string& name);
  Status WrittenShape(Node& node);
  Status Opcode(const std::string& word, Place place, Node& node);
  Status OneAttribute(Node& node);
  Status CheckNode(const Node& node, Place place, const std::string& word);
  StatusOr<Operand> AddNode(Node node, const std::string& name);
  void BindVariables(const Expression& expression);
  // Every variable is bound and every hole or node that a function asks about exists.
  Status CheckNames(const Expression& expression);

  TokenReader& reader_;
  Rule& rule_;
  Graph* graph_ = nullptr;
  bool replacement_ = false;  // names must be known already
  int depth_ = 0;             // of operators inside of operators
  std::set<std::string> variables_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_PARSE_GRAPH_H_
