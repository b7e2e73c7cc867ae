#include "compiler/rules/match.h"

#include <algorithm>
#include <cstdint>

#include "compiler/rules/attributes.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Every commutative node takes the first order of its operands that fits by itself. Where
// conditions then fail, this many of the nodes are tried the other way round first, in all
// combinations.
constexpr size_t kMostFlexible = 5;

bool IsNumberNode(const Node& node) {
  return node.opcode_class == OpcodeClass::kOne && node.opcode == HloOpcode::kConstant;
}

// May be taken apart: nothing but its value matters.
bool IsPlain(const HloInstruction& instruction) {
  return !instruction.has_sharding() && !instruction.HasControlDependencies() &&
         !instruction.HasSideEffectNoRecurse() && instruction.shape().IsArray() &&
         !instruction.shape().is_dynamic();
}

// One choice of which commutative nodes try the other order first.
class Attempt {
 public:
  // `flexible` collects the nodes that bits of `swapped` speak of.
  Attempt(const Rule& rule, uint32_t swapped, std::vector<int>& flexible)
      : rule_(rule), swapped_(swapped), flexible_(flexible) {
    match_.holes.resize(rule.holes.size());
    match_.nodes.resize(rule.pattern.nodes.size());
  }

  bool Run(HloInstruction* root) {
    if (!MatchNode(rule_.pattern.root.index, root)) return false;
    const MatchScope scope(rule_, match_);
    for (const auto& [expression, value] : deferred_) {
      const std::optional<Value> expected = Evaluate(*expression, scope);
      if (!expected || !Equal(*expected, value)) return false;
    }
    for (size_t i = 0; i < match_.nodes.size(); ++i) {
      if (!IsNumberNode(rule_.pattern.nodes[i]) && !IsPlain(*match_.nodes[i])) return false;
      if (rule_.pattern.nodes[i].one_use && !scope.OneUse(rule_.pattern.nodes[i].name))
        return false;
    }
    return Conditions(scope);
  }

  Match Take() { return std::move(match_); }
  const Match& match() const { return match_; }

 private:
  bool Conditions(const MatchScope& scope) {
    for (const Rule::Condition& condition : rule_.conditions) {
      const std::optional<Value> value = Evaluate(condition.expression, scope);
      if (!value) return false;
      if (!condition.binds.empty()) {
        match_.variables.emplace_back(condition.binds, *value);
      } else if (!value->IsTrue()) {
        return false;
      }
    }
    return true;
  }

  bool MatchHole(int index, HloInstruction* instruction) {
    if (match_.holes[index] != nullptr) return match_.holes[index] == instruction;
    const Hole& hole = rule_.holes[index];
    const xla::Shape& shape = instruction->shape();
    if (!shape.IsArray() || shape.is_dynamic() ||
        !InClass(shape.element_type(), hole.element_class) ||
        (hole.rank && *hole.rank != static_cast<int>(shape.dimensions().size())) ||
        (hole.constant && instruction->opcode() != HloOpcode::kConstant) ||
        (hole.splat && !SplatValue(*instruction))) {
      return false;
    }
    match_.holes[index] = instruction;
    trail_.push_back(&match_.holes[index]);
    return true;
  }

  bool MatchOperand(const Operand& operand, HloInstruction* instruction) {
    return operand.kind == Operand::Kind::kHole ? MatchHole(operand.index, instruction)
                                                : MatchNode(operand.index, instruction);
  }

  bool Bind(const Expression& expression, const Value& value) {
    switch (expression.kind) {
      case Expression::Kind::kVariable:
        if (const Value* known = match_.FindVariable(expression.name)) return Equal(*known, value);
        match_.variables.emplace_back(expression.name, value);
        return true;
      case Expression::Kind::kInteger:
        return Equal(Value::Integer(expression.integer), value);
      case Expression::Kind::kReal:  // as printed for f32
        return value.IsNumber() &&
               (value.AsReal() == expression.real ||
                static_cast<float>(value.AsReal()) == static_cast<float>(expression.real));
      case Expression::Kind::kWord:
        return Equal(Value::Word(expression.name), value);
      default:  // of names that may not be bound yet
        deferred_.emplace_back(&expression, value);
        return true;
    }
  }

  bool MatchOpcode(const Node& node, const HloInstruction& instruction) {
    if (node.opcode_class == OpcodeClass::kOne) return instruction.opcode() == node.opcode;
    const bool unary = node.opcode_class == OpcodeClass::kUnary;
    if (unary ? !IsUnaryClass(instruction.opcode()) : !IsBinaryClass(instruction.opcode())) {
      return false;
    }
    for (const HloInstruction* operand : instruction.operands()) {
      if (operand->shape().element_type() != instruction.shape().element_type()) return false;
    }
    return Bind(VariableNamed(node.opcode_variable),
                Value::Word(xla::HloOpcodeString(instruction.opcode())));
  }

  static Expression VariableNamed(const std::string& name) {
    Expression expression;
    expression.kind = Expression::Kind::kVariable;
    expression.name = name;
    return expression;
  }

  bool MatchNode(int index, HloInstruction* instruction) {
    HloInstruction*& bound = match_.nodes[index];
    if (bound != nullptr) return bound == instruction;
    const Node& node = rule_.pattern.nodes[index];
    if (IsNumberNode(node)) {
      if (!instruction->shape().IsArray()) return false;
      bound = instruction;
      trail_.push_back(&bound);
      const std::optional<Value> value = SplatValue(*instruction);
      if (!value) return false;
      for (const Attribute& attribute : node.attributes) {
        if (!Bind(attribute.value, *value)) return false;
      }
      return MatchShape(node, *instruction);
    }
    if (instruction->operand_count() != static_cast<int64_t>(node.operands.size()) ||
        !MatchOpcode(node, *instruction)) {
      return false;
    }
    bound = instruction;
    trail_.push_back(&bound);
    if (!MatchOperands(index, instruction)) return false;
    for (const Attribute& attribute : node.attributes) {
      const std::optional<Value> value = AttributeOf(*instruction, attribute.name);
      if (!value || !Bind(attribute.value, *value)) return false;
    }
    return MatchShape(node, *instruction);
  }

  bool InOrder(const Node& node, HloInstruction* instruction, bool swap) {
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const int64_t which = swap ? 1 - static_cast<int64_t>(i) : static_cast<int64_t>(i);
      if (!MatchOperand(node.operands[i], instruction->mutable_operand(which))) return false;
    }
    return true;
  }

  bool MatchOperands(int index, HloInstruction* instruction) {
    const Node& node = rule_.pattern.nodes[index];
    if (node.operands.size() != 2 || !IsCommutative(instruction->opcode()) ||
        instruction->operand(0) == instruction->operand(1)) {
      return InOrder(node, instruction, false);
    }
    const bool swap = Swapped(index);
    const size_t trail = trail_.size();
    const size_t variables = match_.variables.size();
    const size_t deferred = deferred_.size();
    if (InOrder(node, instruction, swap)) return true;
    while (trail_.size() > trail) {
      *trail_.back() = nullptr;
      trail_.pop_back();
    }
    match_.variables.resize(variables);
    deferred_.resize(deferred);
    return InOrder(node, instruction, !swap);
  }

  // Whether the other order comes first. A node with a number has but one order that fits.
  bool Swapped(int index) {
    for (size_t bit = 0; bit < flexible_.size(); ++bit) {
      if (flexible_[bit] == index) return (swapped_ >> bit & 1U) != 0;
    }
    for (const Operand& operand : rule_.pattern.nodes[index].operands) {
      if (operand.kind == Operand::Kind::kNode &&
          IsNumberNode(rule_.pattern.nodes[operand.index])) {
        return false;
      }
    }
    if (flexible_.size() < kMostFlexible) flexible_.push_back(index);
    return false;
  }

  bool MatchShape(const Node& node, const HloInstruction& instruction) {
    const xla::Shape& shape = instruction.shape();
    if (node.element_type &&
        !Bind(*node.element_type,
              Value::Word(xla::primitive_util::LowercasePrimitiveTypeName(shape.element_type())))) {
      return false;
    }
    return !node.dimensions ||
           Bind(*node.dimensions, Value::List(std::vector<int64_t>(shape.dimensions().begin(),
                                                                   shape.dimensions().end())));
  }

  const Rule& rule_;
  const uint32_t swapped_;
  std::vector<int>& flexible_;
  Match match_;
  std::vector<HloInstruction**> trail_;  // what was bound, to be undone
  std::vector<std::pair<const Expression*, Value>> deferred_;
};

// Whether the replacement, or a condition on uses, keeps a matched node alive.
bool IsKept(const Rule& rule, int node) {
  const auto names = [node](const Operand& operand) {
    return operand.kind == Operand::Kind::kMatched && operand.index == node;
  };
  if (names(rule.replacement.root)) return true;
  for (const Node& built : rule.replacement.nodes) {
    if (std::any_of(built.operands.begin(), built.operands.end(), names)) return true;
  }
  return false;
}

}  // namespace

const Value* Match::FindVariable(std::string_view name) const {
  for (const auto& [known, value] : variables) {
    if (known == name) return &value;
  }
  return nullptr;
}

const HloInstruction* MatchScope::Find(std::string_view name) const {
  for (size_t i = 0; i < rule_.holes.size(); ++i) {
    if (rule_.holes[i].name == name) return match_.holes[i];
  }
  for (size_t i = 0; i < rule_.pattern.nodes.size(); ++i) {
    if (rule_.pattern.nodes[i].name == name) return match_.nodes[i];
  }
  return nullptr;
}

std::optional<Value> MatchScope::Variable(std::string_view name) const {
  const Value* value = match_.FindVariable(name);
  return value == nullptr ? std::nullopt : std::optional<Value>(*value);
}

const xla::Shape* MatchScope::ShapeOf(std::string_view name) const {
  const HloInstruction* instruction = Find(name);
  return instruction == nullptr ? nullptr : &instruction->shape();
}

std::optional<Value> MatchScope::SplatOf(std::string_view name) const {
  const HloInstruction* instruction = Find(name);
  return instruction == nullptr ? std::nullopt : SplatValue(*instruction);
}

bool MatchScope::IsConstant(std::string_view name) const {
  const HloInstruction* instruction = Find(name);
  return instruction != nullptr && instruction->opcode() == HloOpcode::kConstant;
}

bool MatchScope::OneUse(std::string_view name) const {
  const HloInstruction* instruction = Find(name);
  if (instruction == nullptr || instruction->IsRoot()) return false;
  return std::all_of(
      instruction->users().begin(), instruction->users().end(), [this](const HloInstruction* user) {
        return std::find(match_.nodes.begin(), match_.nodes.end(), user) != match_.nodes.end();
      });
}

std::optional<Match> FindMatch(const Rule& rule, HloInstruction* root,
                               absl::FunctionRef<bool(const Match&)> accept) {
  std::vector<int> flexible;
  for (uint32_t swapped = 0; swapped == 0 || swapped < (1U << flexible.size()); ++swapped) {
    Attempt attempt(rule, swapped, flexible);
    if (attempt.Run(root) && accept(attempt.match())) return attempt.Take();
  }
  return std::nullopt;
}

int CountDying(const Rule& rule, const Match& match) {
  std::vector<const HloInstruction*> dying;
  int count = 0;
  // Users before operands: nodes are stored the other way round.
  for (int i = static_cast<int>(rule.pattern.nodes.size()) - 1; i >= 0; --i) {
    const HloInstruction* const node = match.nodes[i];
    if (std::find(dying.begin(), dying.end(), node) != dying.end()) continue;
    const bool root = i == rule.pattern.root.index;
    if (!root && (node->IsRoot() || IsKept(rule, i))) continue;
    const bool dies =
        root ||
        std::all_of(node->users().begin(), node->users().end(), [&](const HloInstruction* user) {
          return std::find(dying.begin(), dying.end(), user) != dying.end();
        });
    if (!dies) continue;
    dying.push_back(node);
    if (!IsNumberNode(rule.pattern.nodes[i])) ++count;
  }
  return count;
}

}  // namespace hone::compiler
