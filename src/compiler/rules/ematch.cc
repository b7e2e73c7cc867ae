#include "compiler/rules/ematch.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/rules/attributes.h"
#include "compiler/rules/build.h"
#include "compiler/rules/match.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using egraph::ClassId;
using egraph::EGraph;
using egraph::kNone;
using egraph::NodeId;
using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// A search looks at this many candidates for every match that it may find.
constexpr size_t kStepsPerMatch = 50;

bool IsNumber(const Node& node) {
  return node.opcode_class == OpcodeClass::kOne && node.opcode == HloOpcode::kConstant;
}

// The node of a class that has this opcode, the first one; kNone where there is none.
NodeId NodeWith(const EGraph& graph, const HloOperators& operators, ClassId id, HloOpcode opcode) {
  for (const NodeId node : graph.NodesOf(graph.Find(id))) {
    const HloOperators::Operator& op = operators.at(graph.node(node).op);
    if (!op.opaque && op.exemplar->opcode() == opcode) return node;
  }
  return kNone;
}

}  // namespace

void NodeIndex::Update(const EGraph& graph) {
  nodes_.assign(xla::HloOpcodeCount(), {});
  for (const ClassId id : graph.Classes()) {
    for (const NodeId node : graph.NodesOf(id)) {
      const HloOperators::Operator& op = operators_.at(graph.node(node).op);
      if (!op.opaque) nodes_[static_cast<size_t>(op.exemplar->opcode())].push_back(node);
    }
  }
}

const std::vector<NodeId>& NodeIndex::With(HloOpcode opcode) const {
  return nodes_[static_cast<size_t>(opcode)];
}

// A match as instructions of a computation of its own, and back.
class RuleRewrite::Scratch {
 public:
  // A copy in `module` of each region that was needed is kept in `regions`.
  Scratch(const Rule& rule, HloOperators& operators, EGraph& graph, xla::HloModule* module,
          absl::flat_hash_map<const xla::HloComputation*, xla::HloComputation*>& regions)
      : rule_(rule),
        operators_(operators),
        graph_(graph),
        module_(module),
        regions_(regions),
        builder_("scratch") {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (computation_ != nullptr) module_->RemoveEmbeddedComputation(computation_).IgnoreError();
  }

  // Null where the graph has changed so that the match holds no more.
  HloInstruction* Make(const egraph::Match& match) {
    match_ = &match;
    trees_.assign(rule_.pattern.nodes.size(), nullptr);
    HloInstruction* const root = Tree(rule_.pattern.root.index);
    if (root != nullptr) computation_ = module_->AddEmbeddedComputation(builder_.Build(root));
    return root;
  }

  // The class of an instruction that is in this computation, added if need be. kNone where it is
  // nothing that the graph can hold.
  ClassId ClassOf(HloInstruction* instruction) {
    const auto known = classes_.find(instruction);
    if (known != classes_.end()) return graph_.Find(known->second);
    if (!IsPure(*instruction)) return kNone;
    std::vector<ClassId> children;
    for (HloInstruction* operand : instruction->operands()) {
      children.push_back(ClassOf(operand));
      if (children.back() == kNone) return kNone;
    }
    const ClassId made = graph_.Add(operators_.InternBuilt(instruction), std::move(children));
    classes_[instruction] = made;
    Fold(*instruction, made);
    return made;
  }

 private:
  // Scalars made of constant scalars are constants.
  void Fold(const HloInstruction& instruction, ClassId id) {
    if (instruction.operand_count() == 0 || !xla::ShapeUtil::IsScalar(instruction.shape())) return;
    for (const HloInstruction* operand : instruction.operands()) {
      if (operand->opcode() != HloOpcode::kConstant) return;
    }
    absl::StatusOr<xla::Literal> value = xla::HloEvaluator().Evaluate(&instruction);
    if (!value.ok()) return;
    const std::unique_ptr<HloInstruction> constant =
        HloInstruction::CreateConstant(*std::move(value));
    graph_.Merge(id, graph_.Add(operators_.InternBuilt(constant.get()), {}));
  }

  HloInstruction* Add(std::unique_ptr<HloInstruction> made, ClassId id) {
    HloInstruction* const added = builder_.AddInstruction(std::move(made));
    classes_[added] = id;
    return added;
  }

  HloInstruction* Tree(int index) {
    HloInstruction*& tree = trees_[static_cast<size_t>(index)];
    if (tree != nullptr) return tree;
    const Node& pattern = rule_.pattern.nodes[static_cast<size_t>(index)];
    const NodeId node = (*match_)[static_cast<size_t>(index)];
    const std::vector<ClassId> children = graph_.node(node).children;
    // The order that puts the matched nodes where their classes are; where it is left open, the
    // rule finds its holes itself.
    bool swapped = false;
    for (size_t i = 0; i < children.size(); ++i) {
      if (!Belongs(pattern.operands[i], children[i])) swapped = true;
    }
    if (swapped && children.size() != 2) return nullptr;
    std::vector<HloInstruction*> operands;
    for (size_t i = 0; i < children.size(); ++i) {
      const Operand& operand = pattern.operands[swapped ? children.size() - 1 - i : i];
      if (!Belongs(operand, children[i])) return nullptr;
      operands.push_back(IsLeaf(operand) ? Leaf(children[i]) : Tree(operand.index));
      if (operands.back() == nullptr) return nullptr;
    }
    const ClassId id = graph_.ClassOf(node);
    std::unique_ptr<HloInstruction> made =
        operators_.Make(graph_.node(node).op, operands, /*for_module=*/false);
    made->ReplaceCalledComputations([this](xla::HloComputation* region) {
      xla::HloComputation*& copy = regions_[region];
      if (copy == nullptr) copy = module_->AddEmbeddedComputation(region->Clone("scratch"));
      return copy;
    });
    tree = Add(std::move(made), id);
    return tree;
  }

  bool IsLeaf(const Operand& operand) const {
    return operand.kind != Operand::Kind::kNode ||
           IsNumber(rule_.pattern.nodes[static_cast<size_t>(operand.index)]);
  }

  bool Belongs(const Operand& operand, ClassId child) const {
    if (IsLeaf(operand)) return true;
    return graph_.ClassOf((*match_)[static_cast<size_t>(operand.index)]) == graph_.Find(child);
  }

  // A constant, or the broadcast of one, where the class has it: rules ask for values.
  HloInstruction* Leaf(ClassId id) {
    id = graph_.Find(id);
    HloInstruction*& leaf = leaves_[id];
    if (leaf != nullptr) return leaf;
    const NodeId constant = NodeWith(graph_, operators_, id, HloOpcode::kConstant);
    if (constant != kNone) {
      return leaf = Add(operators_.Make(graph_.node(constant).op, {}, false), id);
    }
    const NodeId broadcast = NodeWith(graph_, operators_, id, HloOpcode::kBroadcast);
    if (broadcast != kNone) {
      const ClassId of = graph_.Find(graph_.node(broadcast).children[0]);
      const NodeId value = NodeWith(graph_, operators_, of, HloOpcode::kConstant);
      if (value != kNone) {
        HloInstruction* const made = Add(operators_.Make(graph_.node(value).op, {}, false), of);
        return leaf = Add(operators_.Make(graph_.node(broadcast).op, {made}, false), id);
      }
    }
    const NodeId any = graph_.NodesOf(id).front();
    const xla::Shape& shape = operators_.at(graph_.node(any).op).exemplar->shape();
    const int number = parameters_++;
    return leaf =
               Add(HloInstruction::CreateParameter(number, shape, absl::StrCat("p", number)), id);
  }

  const Rule& rule_;
  HloOperators& operators_;
  EGraph& graph_;
  xla::HloModule* const module_;
  absl::flat_hash_map<const xla::HloComputation*, xla::HloComputation*>& regions_;
  const egraph::Match* match_ = nullptr;
  HloComputation::Builder builder_;
  HloComputation* computation_ = nullptr;
  int parameters_ = 0;
  std::vector<HloInstruction*> trees_;
  absl::flat_hash_map<ClassId, HloInstruction*> leaves_;
  absl::flat_hash_map<const HloInstruction*, ClassId> classes_;
};

RuleRewrite::RuleRewrite(const Rule* rule, HloOperators* operators, const NodeIndex* index,
                         xla::HloModule* scratch)
    : rule_(rule), operators_(operators), index_(index), scratch_(scratch) {}

bool RuleRewrite::Fits(const EGraph& graph, const Node& node, NodeId candidate) const {
  const HloOperators::Operator& op = operators_->at(graph.node(candidate).op);
  if (op.opaque || graph.node(candidate).children.size() != node.operands.size()) return false;
  const HloOpcode opcode = op.exemplar->opcode();
  switch (node.opcode_class) {
    case OpcodeClass::kOne:
      return opcode == node.opcode;
    case OpcodeClass::kUnary:
      return IsUnaryClass(opcode);
    case OpcodeClass::kBinary:
      return IsBinaryClass(opcode);
  }
  return false;
}

void RuleRewrite::Search(const EGraph& graph, size_t most, std::vector<egraph::Match>* matches) {
  const Graph& pattern = rule_->pattern;
  if (pattern.root.kind != Operand::Kind::kNode) return;
  const Node& root = pattern.nodes[static_cast<size_t>(pattern.root.index)];
  if (IsNumber(root)) return;
  for (const Hole& hole : rule_->holes) {
    if (hole.list) return;
  }
  steps_ = 0;
  for (uint32_t opcode = 0; opcode < xla::HloOpcodeCount(); ++opcode) {
    for (const NodeId candidate : index_->With(static_cast<HloOpcode>(opcode))) {
      if (!Fits(graph, root, candidate)) continue;
      if (matches->size() >= most || steps_ > most * kStepsPerMatch) return;
      Binding binding;
      binding.nodes.assign(pattern.nodes.size(), kNone);
      binding.numbers.assign(pattern.nodes.size(), kNone);
      binding.holes.assign(rule_->holes.size(), kNone);
      MeetChildren(graph, pattern.root.index, candidate, {}, binding, most, matches);
    }
  }
}

void RuleRewrite::MeetChildren(const EGraph& graph, int node, NodeId candidate,
                               const std::vector<Goal>& goals, Binding& binding, size_t most,
                               std::vector<egraph::Match>* matches) {
  const Node& pattern = rule_->pattern.nodes[static_cast<size_t>(node)];
  const std::vector<ClassId>& children = graph.node(candidate).children;
  binding.nodes[static_cast<size_t>(node)] = candidate;
  const bool both_ways = children.size() == 2 && children[0] != children[1] &&
                         IsCommutative(operators_->at(graph.node(candidate).op).exemplar->opcode());
  for (int way = 0; way < (both_ways ? 2 : 1); ++way) {
    std::vector<Goal> next = goals;
    for (size_t i = 0; i < children.size(); ++i) {
      next.push_back({pattern.operands[i], children[way == 0 ? i : 1 - i]});
    }
    Meet(graph, std::move(next), binding, most, matches);
  }
  binding.nodes[static_cast<size_t>(node)] = kNone;
}

void RuleRewrite::Meet(const EGraph& graph, std::vector<Goal> goals, Binding& binding, size_t most,
                       std::vector<egraph::Match>* matches) {
  if (matches->size() >= most || ++steps_ > most * kStepsPerMatch) return;
  if (goals.empty()) {
    if (seen_.insert(binding.nodes).second) matches->push_back(binding.nodes);
    return;
  }
  const Goal goal = goals.back();
  goals.pop_back();
  const auto index = static_cast<size_t>(goal.operand.index);
  // What stands for a value: a hole or a number. Bound once, then the same class.
  const bool number =
      goal.operand.kind == Operand::Kind::kNode && IsNumber(rule_->pattern.nodes[index]);
  if (number || goal.operand.kind == Operand::Kind::kHole) {
    const bool splat = number || rule_->holes[index].splat;
    const bool constant = !number && rule_->holes[index].constant;
    if (splat || constant) {
      const bool has_constant =
          NodeWith(graph, *operators_, goal.class_id, HloOpcode::kConstant) != kNone;
      const bool has_broadcast =
          splat && NodeWith(graph, *operators_, goal.class_id, HloOpcode::kBroadcast) != kNone;
      if (!has_constant && !has_broadcast) return;
    }
    ClassId& bound = number ? binding.numbers[index] : binding.holes[index];
    if (bound != kNone && bound != goal.class_id) return;
    const ClassId before = bound;
    bound = goal.class_id;
    Meet(graph, std::move(goals), binding, most, matches);
    bound = before;
    return;
  }
  if (binding.nodes[index] != kNone) {
    if (graph.ClassOf(binding.nodes[index]) == goal.class_id) {
      Meet(graph, std::move(goals), binding, most, matches);
    }
    return;
  }
  for (const NodeId candidate : graph.NodesOf(goal.class_id)) {
    if (!Fits(graph, rule_->pattern.nodes[index], candidate)) continue;
    MeetChildren(graph, goal.operand.index, candidate, goals, binding, most, matches);
  }
}

bool RuleRewrite::Apply(EGraph& graph, const egraph::Match& match) {
  const size_t root = static_cast<size_t>(rule_->pattern.root.index);
  const size_t before = graph.node_ids();
  Scratch scratch(*rule_, *operators_, graph, scratch_, regions_);
  HloInstruction* const original = scratch.Make(match);
  if (original == nullptr) return false;
  const std::optional<Match> found = FindMatch(*rule_, original, [](const Match&) { return true; });
  if (!found) return false;
  std::vector<HloInstruction*> added;
  const absl::StatusOr<HloInstruction*> replacement = BuildReplacement(*rule_, *found, added);
  if (!replacement.ok() || *replacement == nullptr) return false;
  const ClassId made = scratch.ClassOf(*replacement);
  if (made == kNone) return false;
  return graph.Merge(graph.ClassOf(match[root]), made) || graph.node_ids() > before;
}

}  // namespace hone::compiler
