#include "compiler/rules/share_computations.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/opcodes.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

bool AppliesToScalars(HloOpcode opcode) {
  return IsOneOf<HloOpcode::kMap, HloOpcode::kReduce, HloOpcode::kReduceWindow, HloOpcode::kScatter,
                 HloOpcode::kSelectAndScatter, HloOpcode::kSort>(opcode);
}

}  // namespace

absl::StatusOr<bool> ShareComputations::RunImpl(
    xla::HloModule* module, const absl::flat_hash_set<absl::string_view>& execution_threads) {
  std::vector<HloComputation*> known;
  bool changed = false;
  for (HloComputation* computation : module->MakeNonfusionComputations(execution_threads)) {
    for (HloInstruction* instruction : computation->instructions()) {
      if (!AppliesToScalars(instruction->opcode())) continue;
      const std::vector<HloComputation*> all(instruction->called_computations().begin(),
                                             instruction->called_computations().end());
      for (HloComputation* called : all) {
        const auto equal = absl::c_find_if(known, [&](const HloComputation* other) {
          return other == called || *other == *called;
        });
        if (equal == known.end()) {
          known.push_back(called);
          continue;
        }
        HloComputation* const first = *equal;
        if (first == called) continue;
        instruction->ReplaceCalledComputations(
            [&](HloComputation* old) { return old == called ? first : old; });
        changed = true;
      }
    }
  }
  if (!changed) return false;
  return module->RemoveUnusedComputations().ok();
}

}  // namespace hone::compiler
