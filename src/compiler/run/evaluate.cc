#include "compiler/run/evaluate.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/describe.h"
#include "compiler/run/execute.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/inputs.h"
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

StatusOr<Evaluation> Evaluate(const xla::HloModule& module, uint64_t seed) {
  if (auto why = WhyNotRunnableAsIs(module)) return CannotRun(*why);
  auto program = Program::Compile(module, CodeQuality::kQuickCompile);
  if (!program.ok()) return CannotRun(std::string(program.status().message()));
  auto inputs =
      MakeInputs(FindInputRoles(module), static_cast<InputKind>(seed % kInputKinds), seed);
  if (!inputs.ok()) return CannotRun(std::string(inputs.status().message()));
  auto noisy = Perturbed(*inputs, seed);
  if (!noisy.ok()) return CannotRun(std::string(noisy.status().message()));
  Evaluation evaluation;
  for (const auto& [arrays, results] : {std::pair(&*inputs, &evaluation.results),
                                        std::pair(&*noisy, &evaluation.noisy_results)}) {
    auto arguments = program->Place(*arrays);
    if (!arguments.ok()) return CannotRun(std::string(arguments.status().message()));
    auto result = program->Run(*arguments);
    if (!result.ok()) return CannotRun(std::string(result.status().message()));
    *results = Bytes(*result);
  }
  evaluation.parameters = Bytes(*inputs);
  evaluation.constants = LargeConstants(module);
  return evaluation;
}

}  // namespace hone::compiler
