#include "compiler/rules/rule_pass.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;

// One sweep over a computation. True where something was replaced.
absl::StatusOr<bool> Sweep(HloComputation* computation,
                           const std::vector<const InstructionRule*>& rules) {
  bool changed = false;
  for (HloInstruction* root : computation->MakeInstructionPostOrder()) {
    // What an earlier replacement has left without users is not worth a rewrite.
    if (root->IsDead()) continue;
    for (const InstructionRule* rule : rules) {
      TF_ASSIGN_OR_RETURN(HloInstruction* const replacement, rule->Replacement(root));
      if (replacement == nullptr || replacement == root) continue;
      // False where the compiler declines: then the instruction stays.
      TF_ASSIGN_OR_RETURN(const bool replaced,
                          computation->ReplaceInstruction(
                              root, replacement, /*preserve_sharding=*/true));
      if (!replaced) continue;
      changed = true;
      break;
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> RulePass::RunImpl(
    xla::HloModule* module, const absl::flat_hash_set<absl::string_view>& execution_threads) {
  bool changed = false;
  for (int round = 0; round < most_rounds_; ++round) {
    bool again = false;
    for (HloComputation* computation : module->MakeNonfusionComputations(execution_threads)) {
      TF_ASSIGN_OR_RETURN(const bool swept, Sweep(computation, rules_));
      again |= swept;
    }
    if (!again) break;
    changed = true;
  }
  return changed;
}

}  // namespace hone::compiler
