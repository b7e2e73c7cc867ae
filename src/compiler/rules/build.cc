#include "compiler/rules/build.h"

#include <cstddef>

#include "absl/status/status.h"
#include "compiler/xla_names.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using Instructions = std::vector<HloInstruction*>;

bool IsNumber(const Node& node) {
  return node.opcode_class == OpcodeClass::kOne && node.opcode == HloOpcode::kConstant;
}

const HloInstruction* LikeOf(const Rule& rule, const Match& match, const Node& node) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name != "like") continue;
    for (size_t i = 0; i < match.nodes.size(); ++i) {
      if (rule.pattern.nodes[i].name == attribute.value.name) return match.nodes[i];
    }
  }
  for (size_t i = 0; i < match.nodes.size(); ++i) {
    const Node& known = rule.pattern.nodes[i];
    const bool kept = node.opcode == HloOpcode::kDot || node.opcode == HloOpcode::kReduce;
    if (node.opcode_class == OpcodeClass::kOne ? kept && known.opcode == node.opcode
                                               : known.opcode_variable == node.opcode_variable) {
      return match.nodes[i];
    }
  }
  return nullptr;
}

}  // namespace

const Shape* ShapeOfNumber(const Node& user, const Instructions& operands, size_t which,
                           Shape& storage) {
  if (user.opcode_class != OpcodeClass::kOne && user.opcode_variable.empty()) return nullptr;
  const bool one = user.opcode_class == OpcodeClass::kOne;
  if (one && which > 0 &&
      (user.opcode == HloOpcode::kPad || user.opcode == HloOpcode::kReduce ||
       user.opcode == HloOpcode::kReduceWindow)) {
    if (operands[0] == nullptr) return nullptr;
    storage = ShapeUtil::MakeShape(operands[0]->shape().element_type(), {});
    return &storage;
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr || (one && user.opcode == HloOpcode::kSelect && i == 0)) continue;
    return &operands[i]->shape();
  }
  return nullptr;
}

absl::StatusOr<HloInstruction*> BuildReplacement(const Rule& rule, const Match& match,
                                                 Instructions& added) {
  HloInstruction* const root = match.nodes[rule.pattern.root.index];
  const MatchScope scope(rule, match);
  const Graph& graph = rule.replacement;
  Instructions built(graph.nodes.size(), nullptr);
  BuildContext context;
  context.computation = root->parent();
  context.scope = &scope;
  context.origin = root;
  context.added = &added;
  const auto operand_of = [&](const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::kHole:
        return match.holes[operand.index];
      case Operand::Kind::kMatched:
        return match.nodes[operand.index];
      default:
        return built[operand.index];
    }
  };
  // Numbers without a shape wait for their user.
  const auto waits = [&](const Operand& operand) {
    return operand.kind == Operand::Kind::kNode && IsNumber(graph.nodes[operand.index]) &&
           !graph.nodes[operand.index].dimensions;
  };
  const auto build = [&]() -> absl::StatusOr<HloInstruction*> {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      const bool is_root =
          graph.root.kind == Operand::Kind::kNode && graph.root.index == static_cast<int>(i);
      if (IsNumber(node) && !node.dimensions && !is_root) continue;
      Instructions operands;
      for (const Operand& operand : node.operands) {
        operands.push_back(waits(operand) ? nullptr : operand_of(operand));
      }
      const Instructions known = operands;
      for (size_t k = 0; k < operands.size(); ++k) {
        if (operands[k] != nullptr) continue;
        Shape storage;
        context.like = nullptr;
        context.shape = ShapeOfNumber(node, known, k, storage);
        TF_ASSIGN_OR_RETURN(operands[k],
                            BuildNode(graph.nodes[node.operands[k].index], {}, context));
      }
      context.shape = is_root ? &root->shape() : nullptr;
      context.like = LikeOf(rule, match, node);
      TF_ASSIGN_OR_RETURN(built[i], BuildNode(node, operands, context));
    }
    HloInstruction* const result = operand_of(graph.root);
    if (!ShapeUtil::Compatible(result->shape(), root->shape())) {
      return absl::InvalidArgumentError("the replacement has another shape");
    }
    return result;
  };
  absl::StatusOr<HloInstruction*> result = build();
  if (result.ok()) return *result;
  TF_RETURN_IF_ERROR(Discard(added));
  added.clear();
  return nullptr;
}

absl::Status Discard(const Instructions& added) {
  for (size_t i = added.size(); i > 0; --i) {
    HloInstruction* const instruction = added[i - 1];
    if (!instruction->IsDead()) continue;
    TF_RETURN_IF_ERROR(instruction->parent()->RemoveInstruction(instruction));
  }
  return absl::OkStatus();
}

}  // namespace hone::compiler
