#include "compiler/rules/saturate.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "compiler/rules/ematch.h"
#include "egraph/egraph.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using egraph::ClassId;
using egraph::EGraph;
using egraph::kNone;
using egraph::NodeId;
using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A computation that is a program, not the region of a reduction or a fusion.
bool IsProgram(const HloComputation& computation) {
  for (const auto& [caller, times] : computation.caller_computations()) {
    for (const HloInstruction* instruction : caller->instructions()) {
      const auto& called = instruction->called_computations();
      if (std::find(called.begin(), called.end(), &computation) == called.end()) continue;
      switch (instruction->opcode()) {
        case HloOpcode::kCall:
        case HloOpcode::kConditional:
        case HloOpcode::kWhile:
          break;
        default:
          return false;
      }
    }
  }
  return true;
}

// Whether `below` is among what `above` needs.
bool Needs(const HloInstruction* above, const HloInstruction* below) {
  absl::flat_hash_set<const HloInstruction*> seen = {above};
  std::vector<const HloInstruction*> stack = {above};
  while (!stack.empty()) {
    const HloInstruction* at = stack.back();
    stack.pop_back();
    if (at == below) return true;
    for (const HloInstruction* operand : at->operands()) {
      if (seen.insert(operand).second) stack.push_back(operand);
    }
    for (const HloInstruction* before : at->control_predecessors()) {
      if (seen.insert(before).second) stack.push_back(before);
    }
  }
  return false;
}

bool MustStay(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kParameter || instruction.HasSideEffect() ||
         instruction.HasControlDependencies() || instruction.IsRoot();
}

// A stretch of a computation's post-order: no path leaves it and comes back.
class Window {
 public:
  Window(HloComputation* computation, std::vector<HloInstruction*> instructions,
         const SaturateOptions& options)
      : computation_(computation),
        instructions_(std::move(instructions)),
        options_(options),
        operators_(computation->parent(), options.goal),
        graph_(&operators_) {
    Enter();
  }

  absl::StatusOr<bool> Run(const std::vector<const Rule*>& rules, WindowReport& report) {
    report.computation = std::string(computation_->name());
    report.instructions = static_cast<int64_t>(instructions_.size());
    xla::HloModule scratch("scratch", computation_->parent()->config());
    // Builders look for equal regions from the entry.
    HloComputation::Builder entry("entry");
    entry.AddInstruction(HloInstruction::CreateTuple({}));
    scratch.AddEntryComputation(entry.Build());
    NodeIndex index(operators_);
    std::vector<std::unique_ptr<RuleRewrite>> owned;
    std::vector<egraph::Rewrite*> rewrites;
    for (const Rule* rule : rules) {
      owned.push_back(std::make_unique<RuleRewrite>(rule, &operators_, &index, &scratch));
      rewrites.push_back(owned.back().get());
    }
    egraph::Limits limits = options_.limits;
    limits.nodes += graph_.node_count();
    report.run = egraph::Saturate(graph_, rewrites, limits, Now,
                                  [&index](const EGraph& graph) { index.Update(graph); });
    const double start = Now();
    Extract();
    report.extract_seconds = Now() - start;
    for (const HloInstruction* instruction : instructions_) {
      const NodeId node = nodes_.at(instruction);
      if (!instruction->IsDead() || MustStay(*instruction)) {
        report.cost_before += operators_.at(graph_.node(node).op).cost;
      }
    }
    report.cost_after = extraction_.cost;
    return Rebuild(report);
  }

 private:
  ClassId ClassOf(const HloInstruction* instruction) const {
    return graph_.ClassOf(nodes_.at(instruction));
  }

  // What the window reads and does not make. Paid for elsewhere; constants and their broadcasts are
  // known for what they are.
  NodeId EnterOutside(HloInstruction* instruction) {
    const auto known = nodes_.find(instruction);
    if (known != nodes_.end()) return known->second;
    const bool constant = instruction->opcode() == HloOpcode::kConstant;
    const bool broadcast = instruction->opcode() == HloOpcode::kBroadcast &&
                           instruction->operand(0)->opcode() == HloOpcode::kConstant;
    NodeId node;
    if ((constant || broadcast) && IsPure(*instruction) &&
        (constant || IsPure(*instruction->operand(0)))) {
      std::vector<ClassId> children;
      if (broadcast) {
        children.push_back(graph_.ClassOf(EnterOutside(instruction->mutable_operand(0))));
      }
      node = graph_.AddNode(operators_.Intern(instruction), std::move(children));
    } else {
      node = graph_.AddNode(operators_.Opaque(instruction, 0), {});
    }
    nodes_[instruction] = node;
    originals_.try_emplace(node, instruction);
    outside_.push_back(node);
    return node;
  }

  void Enter() {
    for (const HloInstruction* instruction : computation_->instructions()) {
      if (instruction->IsDead()) dead_before_.insert(instruction->unique_id());
    }
    absl::flat_hash_set<const HloInstruction*> inside(instructions_.begin(), instructions_.end());
    for (HloInstruction* instruction : instructions_) {
      std::vector<ClassId> children;
      for (HloInstruction* operand : instruction->operands()) {
        children.push_back(
            graph_.ClassOf(inside.contains(operand) ? nodes_.at(operand) : EnterOutside(operand)));
      }
      // Control predecessors are needed first: what comes of them must not need this one.
      for (HloInstruction* before : instruction->control_predecessors()) {
        children.push_back(
            graph_.ClassOf(inside.contains(before) ? nodes_.at(before) : EnterOutside(before)));
      }
      const egraph::OpId op = IsPure(*instruction)
                                  ? operators_.Intern(instruction)
                                  : operators_.Opaque(instruction, operators_.CostOf(*instruction));
      const NodeId node = graph_.AddNode(op, std::move(children));
      nodes_[instruction] = node;
      originals_.try_emplace(node, instruction);
      const bool read_outside =
          std::any_of(instruction->users().begin(), instruction->users().end(),
                      [&](const HloInstruction* user) { return !inside.contains(user); });
      if (MustStay(*instruction) || read_outside) roots_.push_back(node);
    }
  }

  void Extract() {
    egraph::ExtractionProblem problem;
    problem.graph = &graph_;
    problem.cost.resize(graph_.node_ids());
    for (NodeId node = 0; node < graph_.node_ids(); ++node) {
      problem.cost[node] = operators_.at(graph_.node(node).op).cost;
    }
    for (const NodeId node : outside_) problem.cost[graph_.Canonical(node)] = 0;
    // The earliest instruction of every class: its operands come before it, so there is no cycle.
    problem.incumbent.assign(graph_.class_ids(), kNone);
    const auto take = [&](NodeId node) {
      NodeId& chosen = problem.incumbent[graph_.ClassOf(node)];
      if (chosen == kNone) chosen = graph_.Canonical(node);
    };
    for (const NodeId node : outside_) take(node);
    for (const HloInstruction* instruction : instructions_) take(nodes_.at(instruction));
    for (const HloInstruction* instruction : instructions_) {
      if (!MustStay(*instruction) || IsPure(*instruction)) continue;
      // What must stay is what stands for its class.
      const NodeId own = graph_.Canonical(nodes_.at(instruction));
      const ClassId id = graph_.ClassOf(own);
      if (problem.incumbent[id] != own) continue;
      for (const NodeId other : graph_.NodesOf(id)) {
        if (other != own) problem.cost[other] = kInfinity;
      }
    }
    for (const NodeId root : roots_) problem.roots.push_back(graph_.ClassOf(root));
    extraction_ = egraph::ExtractDag(problem, options_.extraction);
  }

  // The chosen classes, what they are made of first.
  std::vector<ClassId> Order() const {
    std::vector<ClassId> order;
    std::vector<bool> seen(graph_.class_ids(), false);
    std::vector<std::pair<ClassId, size_t>> path;
    for (const NodeId root : roots_) {
      path.push_back({graph_.ClassOf(root), 0});
      while (!path.empty()) {
        const ClassId id = path.back().first;
        if (path.back().second == 0) {
          if (seen[id]) {
            path.pop_back();
            continue;
          }
          seen[id] = true;
        }
        const std::vector<ClassId>& children = graph_.node(extraction_.choice[id]).children;
        if (path.back().second < children.size()) {
          const ClassId child = children[path.back().second++];
          if (!seen[child]) path.push_back({child, 0});
        } else {
          order.push_back(id);
          path.pop_back();
        }
      }
    }
    return order;
  }

  absl::StatusOr<bool> Rebuild(WindowReport& report) {
    if (extraction_.cost == kInfinity) return false;
    const std::vector<ClassId> order = Order();
    // The instruction that was there for a node: the first one.
    absl::flat_hash_map<NodeId, HloInstruction*> original;
    absl::flat_hash_map<ClassId, std::vector<HloInstruction*>> members;
    for (const NodeId node : outside_) {
      original.try_emplace(graph_.Canonical(node), originals_.at(node));
    }
    for (HloInstruction* instruction : instructions_) {
      original.try_emplace(graph_.Canonical(nodes_.at(instruction)), instruction);
      members[ClassOf(instruction)].push_back(instruction);
    }
    // First everything is made, so that nothing that it reads falls dead while replacing.
    absl::flat_hash_map<ClassId, HloInstruction*> made;
    for (const ClassId id : order) {
      const NodeId node = extraction_.choice[id];
      const auto known = original.find(node);
      if (known != original.end()) {
        made[id] = known->second;
        continue;
      }
      std::vector<HloInstruction*> operands;
      for (const ClassId child : graph_.node(node).children) operands.push_back(made.at(child));
      made[id] = computation_->AddInstruction(
          operators_.Make(graph_.node(node).op, operands, /*for_module=*/true));
    }
    // In this order all that a replacement reads is final already, so there is no cycle on the way,
    // unless something is declined.
    bool declined = false;
    for (const ClassId id : order) {
      for (HloInstruction* old : members[id]) {
        HloInstruction* const now = made.at(id);
        if (old == now || !IsPure(*old) || old->IsDead()) continue;
        if (declined && Needs(now, old)) continue;
        TF_ASSIGN_OR_RETURN(const bool replaced,
                            computation_->ReplaceInstruction(old, now, /*preserve_sharding=*/true,
                                                             /*relay_control_dependency=*/false,
                                                             /*remove_unused_operands=*/false));
        declined |= !replaced;
        report.replaced += replaced ? 1 : 0;
      }
    }
    return Clean(report.replaced > 0);
  }

  // Takes out what is no longer read. What was not read before is another pass' business.
  absl::StatusOr<bool> Clean(bool changed) {
    std::vector<HloInstruction*> order = computation_->MakeInstructionPostOrder();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      if (!(*at)->IsDead() || MustStay(**at) || dead_before_.contains((*at)->unique_id())) continue;
      TF_RETURN_IF_ERROR(computation_->RemoveInstruction(*at));
    }
    return changed;
  }

  HloComputation* const computation_;
  const std::vector<HloInstruction*> instructions_;
  const SaturateOptions& options_;
  HloOperators operators_;
  EGraph graph_;
  absl::flat_hash_map<const HloInstruction*, NodeId> nodes_;
  absl::flat_hash_map<NodeId, HloInstruction*> originals_;
  absl::flat_hash_set<int64_t> dead_before_;
  std::vector<NodeId> outside_;
  std::vector<NodeId> roots_;
  egraph::Extraction extraction_;
};

absl::StatusOr<bool> Sweep(HloComputation* computation, const std::vector<const Rule*>& rules,
                           const SaturateOptions& options, size_t offset,
                           std::vector<WindowReport>* reports) {
  bool changed = false;
  const std::vector<HloInstruction*> order = computation->MakeInstructionPostOrder();
  // A window removes what it leaves unread, in itself or before it: later ones are still there, by
  // what they were; ids are never used twice.
  std::vector<int64_t> ids;
  ids.reserve(order.size());
  for (const HloInstruction* instruction : order) ids.push_back(instruction->unique_id());
  for (size_t begin = 0; begin < order.size();) {
    const size_t end =
        std::min(order.size(), begin == 0 && offset > 0 ? offset : begin + options.window);
    absl::flat_hash_map<int64_t, HloInstruction*> alive;
    for (HloInstruction* instruction : computation->instructions()) {
      alive[instruction->unique_id()] = instruction;
    }
    std::vector<HloInstruction*> instructions;
    for (size_t i = begin; i < end; ++i) {
      const auto found = alive.find(ids[i]);
      if (found != alive.end()) instructions.push_back(found->second);
    }
    begin = end;
    if (instructions.size() < 2) continue;
    WindowReport report;
    TF_ASSIGN_OR_RETURN(const bool rewritten,
                        Window(computation, std::move(instructions), options).Run(rules, report));
    changed |= rewritten;
    if (reports != nullptr) reports->push_back(std::move(report));
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> Saturate(xla::HloModule* module, const std::vector<const Rule*>& rules,
                              const SaturateOptions& options,
                              const absl::flat_hash_set<absl::string_view>& execution_threads,
                              std::vector<WindowReport>* reports) {
  if (module->has_schedule()) return false;
  bool changed = false;
  for (HloComputation* computation : module->MakeNonfusionComputations(execution_threads)) {
    if (!IsProgram(*computation)) continue;
    for (int sweep = 0; sweep < options.sweeps; ++sweep) {
      const bool several = static_cast<size_t>(computation->instruction_count()) > options.window;
      const size_t offset = sweep % 2 == 0 ? 0 : options.window / 2;
      TF_ASSIGN_OR_RETURN(const bool swept, Sweep(computation, rules, options, offset, reports));
      changed |= swept;
      if (!several) break;
    }
  }
  return changed;
}

}  // namespace hone::compiler
