#include "compiler/rules/rule_pass.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hone::compiler {

using xla::HloComputation;
using xla::HloInstruction;

RulePass::RulePass(std::string name, const std::vector<const InstructionRule*>& rules,
                   int most_rounds)
    : name_(std::move(name)), most_rounds_(most_rounds) {
  for (const InstructionRule* rule : rules) {
    const std::vector<xla::HloOpcode> opcodes = rule->root_opcodes();
    for (const xla::HloOpcode opcode : opcodes) {
      by_opcode_[static_cast<size_t>(opcode)].push_back(rule);
    }
    if (!opcodes.empty()) continue;
    for (auto& list : by_opcode_) list.push_back(rule);
  }
}

// One sweep over a computation. True where something was replaced.
absl::StatusOr<bool> RulePass::Sweep(HloComputation* computation,
                                     absl::flat_hash_set<std::string>& declined) const {
  bool changed = false;
  for (HloInstruction* root : computation->MakeInstructionPostOrder()) {
    const auto& rules = by_opcode_[static_cast<size_t>(root->opcode())];
    // What an earlier replacement has left without users is not worth a rewrite. (Instructions that
    // were removed are kept until Cleanup, without users.)
    if (rules.empty() || root->IsDead()) continue;
    for (const InstructionRule* rule : rules) {
      if (!declined.empty() && declined.contains(absl::StrCat(root->name(), " ", rule->name()))) {
        continue;
      }
      TF_ASSIGN_OR_RETURN(HloInstruction* const replacement, rule->Replacement(root));
      if (replacement == nullptr || replacement == root) continue;
      // False where the compiler declines: then the instruction stays.
      TF_ASSIGN_OR_RETURN(const bool replaced,
                          computation->ReplaceInstruction(root, replacement,
                                                          /*preserve_sharding=*/true));
      if (replaced) {
        changed = true;
        break;
      }
      declined.insert(absl::StrCat(root->name(), " ", rule->name()));
      if (replacement->IsDead() && computation->IsSafelyRemovable(replacement)) {
        TF_RETURN_IF_ERROR(computation->RemoveInstructionAndUnusedOperands(replacement));
      }
    }
  }
  return changed;
}

absl::StatusOr<bool> RulePass::RunImpl(
    xla::HloModule* module, const absl::flat_hash_set<absl::string_view>& execution_threads) {
  bool changed = false;
  absl::flat_hash_set<std::string> declined;
  for (int round = 0; round < most_rounds_; ++round) {
    bool again = false;
    for (HloComputation* computation : module->MakeNonfusionComputations(execution_threads)) {
      TF_ASSIGN_OR_RETURN(const bool swept, Sweep(computation, declined));
      again |= swept;
    }
    if (!again) break;
    changed = true;
    // As the body of a loop that another was put in the place of.
    TF_RETURN_IF_ERROR(module->RemoveUnusedComputations());
  }
  return changed;
}

}  // namespace hone::compiler
