// Finds a rule's pattern at an instruction.
#ifndef HONE_COMPILER_RULES_MATCH_H_
#define HONE_COMPILER_RULES_MATCH_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "compiler/rules/expression.h"
#include "compiler/rules/pattern.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// What the names of a rule stand for. Parallel to Rule::holes and Rule::pattern.nodes; null where
// not (yet) known.
struct Match {
  std::vector<xla::HloInstruction*> holes;
  std::vector<xla::HloInstruction*> nodes;
  std::vector<std::pair<std::string, Value>> variables;

  const Value* FindVariable(std::string_view name) const;
};

// Names as a match has them.
class MatchScope : public Scope {
 public:
  MatchScope(const Rule& rule, const Match& match) : rule_(rule), match_(match) {}
  std::optional<Value> Variable(std::string_view name) const override;
  const xla::Shape* ShapeOf(std::string_view name) const override;
  std::optional<Value> SplatOf(std::string_view name) const override;
  bool IsConstant(std::string_view name) const override;
  bool OneUse(std::string_view name) const override;
  const xla::HloInstruction* Find(std::string_view name) const;

 private:
  const Rule& rule_;
  const Match& match_;
};

// The first match with `root` as the pattern's root that satisfies all conditions and `accept`.
// Operands of commutative operators are tried both ways. Instructions with side effects, control
// dependencies, shardings, or dynamic shapes match no node.
std::optional<Match> FindMatch(const Rule& rule, xla::HloInstruction* root,
                               absl::FunctionRef<bool(const Match&)> accept);

// How many nodes of a match lose their last user when its root is replaced, the root among them.
// Numbers are left out: they are shared by half of a program.
int CountDying(const Rule& rule, const Match& match);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_MATCH_H_
