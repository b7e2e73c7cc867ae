#include "compiler/extract.h"

#include "absl/container/flat_hash_set.h"
#include "compiler/fingerprint.h"
#include "compiler/opcodes.h"
#include "core/rng.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/tools/hlo_decomposer.h"
#include "xla/tools/hlo_extractor.h"

namespace hone::compiler {
namespace {

bool IsOperation(const xla::HloInstruction& instruction) {
  return !IsOneOf<xla::HloOpcode::kParameter, xla::HloOpcode::kConstant, xla::HloOpcode::kTuple,
                  xla::HloOpcode::kGetTupleElement>(instruction.opcode());
}

}  // namespace

std::unique_ptr<xla::HloModule> ExtractRandomModule(const xla::HloModule& module, uint64_t seed,
                                                    int64_t height) {
  std::vector<const xla::HloInstruction*> candidates;
  for (const xla::HloInstruction* instruction :
       module.entry_computation()->MakeInstructionPostOrder()) {
    if (IsOperation(*instruction)) candidates.push_back(instruction);
  }
  if (candidates.empty()) return nullptr;
  Rng rng(seed);
  return xla::ExtractModule(candidates[rng.Below(candidates.size())], height,
                            /*extract_selector=*/nullptr, /*replace_type_selector=*/nullptr,
                            /*cross_computation=*/false, /*inline_calls_and_fusions=*/false,
                            /*run_verifier=*/false);
}

std::vector<std::unique_ptr<xla::HloModule>> ExtractFusions(const xla::HloModule& module,
                                                            size_t most) {
  std::vector<std::unique_ptr<xla::HloModule>> modules;
  for (const xla::HloComputation* computation : module.MakeNonfusionComputations()) {
    for (const xla::HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != xla::HloOpcode::kFusion || modules.size() >= most) continue;
      modules.push_back(xla::ExtractInstructionIntoNewModule(*instruction));
    }
  }
  return modules;
}

std::vector<std::unique_ptr<xla::HloModule>> ExtractInstructions(const xla::HloModule& module,
                                                                 size_t most) {
  std::vector<std::unique_ptr<xla::HloModule>> modules;
  absl::flat_hash_set<std::string> seen;
  for (const xla::HloInstruction* instruction :
       module.entry_computation()->MakeInstructionPostOrder()) {
    if (modules.size() >= most) break;
    if (!IsOperation(*instruction)) continue;
    auto extracted = xla::ExtractInstructionIntoNewModule(*instruction);
    if (seen.insert(DigestModule(*extracted).fingerprint.ToHex()).second) {
      modules.push_back(std::move(extracted));
    }
  }
  return modules;
}

}  // namespace hone::compiler
