#include "compiler/run/evaluate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/describe.h"
#include "compiler/run/execute.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/inputs.h"
#include "compiler/run/reference.h"
#include "compiler/run/stand_in.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/layout_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

tl::unexpected<Error> CannotRun(const std::string& why) {
  return MakeError(ErrorCode::kUnsupported, "it cannot be run: " + why);
}

std::string Bytes(const xla::Literal& literal) {
  return {static_cast<const char*>(literal.untyped_data()),
          static_cast<size_t>(literal.size_bytes())};
}

std::vector<std::string> Bytes(const Arrays& arrays) {
  std::vector<std::string> bytes;
  for (const xla::Literal& array : arrays) bytes.push_back(Bytes(array));
  return bytes;
}

std::vector<std::string> Bytes(const verify::Outputs& outputs) {
  std::vector<std::string> bytes;
  for (const verify::ArrayView& array : outputs.arrays) {
    bytes.emplace_back(static_cast<const char*>(array.data), array.bytes());
  }
  return bytes;
}

// In the order in which Describe lists computations and instructions.
std::vector<LargeConstant> LargeConstants(const xla::HloModule& module) {
  std::vector<LargeConstant> constants;
  uint32_t c = 0;
  for (const xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    uint32_t i = 0;
    for (const xla::HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() == xla::HloOpcode::kConstant && instruction->shape().IsArray() &&
          xla::ShapeUtil::ElementsIn(instruction->shape()) > kLargestLiteral) {
        const xla::Literal row_major = instruction->literal().Relayout(
            xla::LayoutUtil::GetDefaultLayoutForShape(instruction->shape()));
        constants.push_back({c, i, Bytes(row_major)});
      }
      ++i;
    }
    ++c;
  }
  return constants;
}

}  // namespace

StatusOr<Evaluation> Evaluate(const xla::HloModule& module, const EvaluationOptions& options) {
  if (!options.run) {
    const auto kind = static_cast<InputKind>(std::min(options.kind, verify::kKinds - 1));
    absl::StatusOr<Arrays> inputs = MakeInputs(FindInputRoles(module), kind, options.seed);
    if (!inputs.ok()) return CannotRun(std::string(inputs.status().message()));
    Evaluation evaluation;
    evaluation.parameters = Bytes(*inputs);
    return evaluation;
  }
  if (auto why = WhyNotRunnableAsIs(module)) return CannotRun(*why);
  CompilePlan exact;  // XLA:CPU's minimum and maximum lose NaNs else, as HLO's do not
  exact.flags = {{"xla_cpu_enable_fast_min_max", "false"}};
  Reference* const reference = &Reference::Of(module, CodeQuality::kQuickCompile, exact);
  const absl::Status compiled = reference->Compile();
  if (!compiled.ok()) return CannotRun(std::string(compiled.message()));
  verify::InputChoice choice;
  choice.kind = std::min(options.kind, verify::kKinds - 1);
  choice.seed = options.seed;
  if (!options.given.empty()) choice.given = 0;
  StatusOr<ReferenceRun*> run = reference->On(choice, {options.given});
  if (!run) return CannotRun(run.error().message);
  StatusOr<verify::Outputs> result = reference->Result(*run);
  if (!result) return CannotRun(result.error().message);
  Evaluation evaluation;
  evaluation.parameters = Bytes(*(*run)->inputs);
  evaluation.results = Bytes(*result);
  Arrays moved;
  for (int k = 0; k < options.moved; ++k) {
    StatusOr<std::optional<verify::Outputs>> sample = reference->MovedSample(*run, k, &moved);
    if (!sample) return CannotRun(sample.error().message);
    if (*sample) evaluation.noisy_results.push_back(Bytes(**sample));
  }
  for (int k = 0; k < options.noisy; ++k) {
    StatusOr<std::optional<verify::Outputs>> sample = reference->Sample(*run, k, &moved);
    if (!sample) return CannotRun(sample.error().message);
    evaluation.noisy_results.push_back(Bytes(**sample));
  }
  for (int k = 0; k < options.wide; ++k) {
    StatusOr<std::optional<verify::Outputs>> sample = reference->WideSample(*run, k, &moved);
    if (!sample) return CannotRun(sample.error().message);
    if (*sample) evaluation.noisy_results.push_back(Bytes(**sample));
  }
  evaluation.constants = LargeConstants(module);
  return evaluation;
}

}  // namespace hone::compiler
