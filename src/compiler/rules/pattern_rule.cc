#include "compiler/rules/pattern_rule.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/rules/attributes.h"
#include "compiler/rules/build.h"
#include "xla/hlo/ir/hlo_computation.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool IsNumber(const Node& node) {
  return node.opcode_class == OpcodeClass::kOne && node.opcode == HloOpcode::kConstant;
}

bool IsScalarBroadcast(const Node& node) {
  return node.opcode_class == OpcodeClass::kOne && node.opcode == HloOpcode::kBroadcast &&
         node.attributes.size() == 1 && node.attributes[0].value.kind == Expression::Kind::kList &&
         node.attributes[0].value.arguments.empty();
}

// Which nodes of a replacement are a broadcast of a scalar, or only lead to such.
std::vector<bool> SharedNodes(const Graph& graph) {
  std::vector<bool> shared(graph.nodes.size(), false);
  for (size_t i = graph.nodes.size(); i > 0; --i) {
    const int index = static_cast<int>(i) - 1;
    if (graph.root.kind == Operand::Kind::kNode && graph.root.index == index) continue;
    bool only_shared = true;
    for (size_t user = i; user < graph.nodes.size(); ++user) {
      for (const Operand& operand : graph.nodes[user].operands) {
        const bool uses = operand.kind == Operand::Kind::kNode && operand.index == index;
        only_shared &= !uses || shared[user];
      }
    }
    shared[index] = only_shared || IsScalarBroadcast(graph.nodes[index]);
  }
  return shared;
}

}  // namespace

PatternRule::PatternRule(Rule rule) : rule_(std::move(rule)) {
  const std::vector<bool> shared = SharedNodes(rule_.replacement);
  for (size_t i = 0; i < rule_.replacement.nodes.size(); ++i) {
    if (IsNumber(rule_.replacement.nodes[i]) || (rule_.shared && shared[i])) continue;
    ++adds_;
  }
}

std::vector<HloOpcode> PatternRule::root_opcodes() const {
  const Node& root = rule_.pattern.nodes[rule_.pattern.root.index];
  if (root.opcode_class == OpcodeClass::kOne) return {root.opcode};
  std::vector<HloOpcode> opcodes;
  for (uint32_t i = 0; i < xla::HloOpcodeCount(); ++i) {
    const auto opcode = static_cast<HloOpcode>(i);
    if (root.opcode_class == OpcodeClass::kUnary ? IsUnaryClass(opcode) : IsBinaryClass(opcode)) {
      opcodes.push_back(opcode);
    }
  }
  return opcodes;
}

int PatternRule::Gain(const Match& match) const { return CountDying(rule_, match) - adds_; }

bool PatternRule::PaysOff(const Match& match, int gain,
                          const std::vector<HloInstruction*>& added) const {
  int scalars = 0;
  int broadcasts = 0;
  for (const HloInstruction* instruction : added) {
    if (instruction->opcode() == HloOpcode::kConstant) continue;
    if (instruction->shape().dimensions().empty()) {
      ++scalars;
    } else if (instruction->opcode() == HloOpcode::kBroadcast &&
               instruction->operand(0)->shape().dimensions().empty() &&
               instruction->operand(0)->opcode() != HloOpcode::kConstant) {
      ++broadcasts;
    }
  }
  if (scalars == 0 && broadcasts == 0) return true;
  const auto root_opcode = match.nodes[rule_.pattern.root.index]->opcode();
  std::set<std::vector<int64_t>> shapes;
  int saved = 0;
  for (HloInstruction* other : match.nodes[rule_.pattern.root.index]->parent()->instructions()) {
    if (other->opcode() != root_opcode || other->IsDead()) continue;
    const std::optional<Match> found = FindMatch(rule_, other, [&](const Match& candidate) {
      for (size_t i = 0; i < rule_.holes.size(); ++i) {
        if (rule_.holes[i].rank == 0 && candidate.holes[i] != match.holes[i]) return false;
      }
      return Gain(candidate) >= rule_.gain;
    });
    if (!found) continue;
    saved += gain;
    shapes.emplace(other->shape().dimensions().begin(), other->shape().dimensions().end());
  }
  return saved > scalars + broadcasts * static_cast<int>(shapes.size());
}

absl::StatusOr<HloInstruction*> PatternRule::Replacement(HloInstruction* root) const {
  int gain = 0;
  const std::optional<Match> match = FindMatch(rule_, root, [&](const Match& candidate) {
    gain = Gain(candidate);
    return gain >= rule_.gain;
  });
  if (!match) return nullptr;
  std::vector<HloInstruction*> added;
  TF_ASSIGN_OR_RETURN(HloInstruction* const replacement, BuildReplacement(rule_, *match, added));
  if (replacement == nullptr || replacement == root) {
    TF_RETURN_IF_ERROR(Discard(added));
    return nullptr;
  }
  if (root->shape().has_layout() && replacement->shape().has_layout() &&
      replacement->shape().layout() != root->shape().layout()) {
    if (std::find(added.begin(), added.end(), replacement) != added.end()) {
      *replacement->mutable_shape()->mutable_layout() = root->shape().layout();
    } else if (root->IsRoot()) {  // its layout is the caller's business
      TF_RETURN_IF_ERROR(Discard(added));
      return nullptr;
    }
  }
  if (rule_.shared && !PaysOff(*match, gain, added)) {
    TF_RETURN_IF_ERROR(Discard(added));
    return nullptr;
  }
  return replacement;
}

}  // namespace hone::compiler
