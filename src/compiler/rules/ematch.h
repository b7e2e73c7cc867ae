// Rules (rules/pattern.h) as rewrites of an e-graph of HLO instructions.
//
// Structure is matched in the e-graph: opcodes, numbers of operands, holes that are equal. What
// fits is made as real instructions in a scratch module, where the rule itself decides (attributes,
// conditions) and builds; what it built goes into the e-graph. So a rule means the same here as in
// the pass `rules`, but that `gain` does not count.
#ifndef HONE_COMPILER_RULES_EMATCH_H_
#define HONE_COMPILER_RULES_EMATCH_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/rules/hlo_operators.h"
#include "compiler/rules/pattern.h"
#include "egraph/egraph.h"
#include "egraph/saturate.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// Nodes by opcode: made before every iteration, shared by all rules.
class NodeIndex {
 public:
  explicit NodeIndex(const HloOperators& operators) : operators_(operators) {}
  void Update(const egraph::EGraph& graph);
  const std::vector<egraph::NodeId>& With(xla::HloOpcode opcode) const;

 private:
  const HloOperators& operators_;
  std::vector<std::vector<egraph::NodeId>> nodes_;
};

class RuleRewrite : public egraph::Rewrite {
 public:
  // None is owned.
  RuleRewrite(const Rule* rule, HloOperators* operators, const NodeIndex* index,
              xla::HloModule* scratch);

  // A match is a node for every node of the pattern (kNone for numbers). Each is found once.
  void Search(const egraph::EGraph& graph, size_t most,
              std::vector<egraph::Match>* matches) override;
  bool Apply(egraph::EGraph& graph, const egraph::Match& match) override;

 private:
  struct Binding {
    egraph::Match nodes;
    std::vector<egraph::ClassId> holes;
    std::vector<egraph::ClassId> numbers;  // by node of the pattern
  };
  struct Goal {
    Operand operand;
    egraph::ClassId class_id;
  };
  class Scratch;

  bool Fits(const egraph::EGraph& graph, const Node& node, egraph::NodeId candidate) const;
  // Meets the goals one by one; calls itself for every way.
  void Meet(const egraph::EGraph& graph, std::vector<Goal> goals, Binding& binding, size_t most,
            std::vector<egraph::Match>* matches);
  void MeetChildren(const egraph::EGraph& graph, int node, egraph::NodeId candidate,
                    const std::vector<Goal>& goals, Binding& binding, size_t most,
                    std::vector<egraph::Match>* matches);

  const Rule* const rule_;
  HloOperators* const operators_;
  const NodeIndex* const index_;
  xla::HloModule* const scratch_;
  absl::flat_hash_set<egraph::Match> seen_;
  // Copies in the scratch module: XLA lets an instruction call computations of its own module alone.
  absl::flat_hash_map<const xla::HloComputation*, xla::HloComputation*> regions_;
  size_t steps_ = 0;  // of the search that is going on
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_EMATCH_H_
