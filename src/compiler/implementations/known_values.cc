#include "compiler/implementations/known_values.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// No array that is computed here has more elements, nor all of them together: XLA's evaluator takes
// some 0.2 microseconds for each.
constexpr int64_t kMostElements = 1 << 20;
constexpr int64_t kMostElementsInAll = 1 << 22;
constexpr size_t kMostInstructions = 200;

// Whether its value follows from its operands' values, and is simple to compute.
bool IsSimple(const HloInstruction& instruction) {
  if (!IsArray(instruction.shape()) || instruction.HasSideEffect()) return false;
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
    case HloOpcode::kPad:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    case HloOpcode::kReduce:
      return emit::ReducerOpcode(*instruction.to_apply()).has_value();
    default:
      return instruction.operand_count() > 0 && instruction.IsElementwise() &&
             instruction.opcode() != HloOpcode::kRng && instruction.called_computations().empty();
  }
}

// Whether it is made of counters and constants only, by little work. Elements of tuples that are
// put together there are what they were: inlined calls leave such.
bool IsKnown(const HloInstruction& array) {
  std::vector<const HloInstruction*> left = {&array};
  absl::flat_hash_set<const HloInstruction*> seen = {&array};
  const auto visit = [&](const HloInstruction* one) {
    if (seen.insert(one).second) left.push_back(one);
  };
  int64_t elements_in_all = 0;
  while (!left.empty()) {
    const HloInstruction* const one = left.back();
    left.pop_back();
    if (one->opcode() == HloOpcode::kGetTupleElement) {
      if (one->operand(0)->opcode() != HloOpcode::kTuple) return false;
      visit(one->operand(0)->operand(one->tuple_index()));
      continue;
    }
    if (!IsSimple(*one) || seen.size() > kMostInstructions) return false;
    const int64_t elements = xla::ShapeUtil::ElementsIn(one->shape());
    elements_in_all += elements;
    if (elements > kMostElements || elements_in_all > kMostElementsInAll) return false;
    for (const HloInstruction* operand : one->operands()) visit(operand);
  }
  return true;
}

}  // namespace

std::optional<xla::Literal> KnownValue(const HloInstruction& array, xla::PrimitiveType type) {
  if (!IsKnown(array)) return std::nullopt;
  xla::HloEvaluator evaluator(/*max_loop_iterations=*/0);
  absl::StatusOr<xla::Literal> value = evaluator.Evaluate(
      &array, /*precomputed_analyses=*/{}, /*recursively_evaluate_nonconstant_operands=*/true);
  if (value.ok()) value = value->Convert(type);
  return value.ok() ? std::make_optional(*std::move(value)) : std::nullopt;
}

}  // namespace hone::compiler
