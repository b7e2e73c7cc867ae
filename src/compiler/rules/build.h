// Makes instructions out of a rule's graph.
#ifndef HONE_COMPILER_RULES_BUILD_H_
#define HONE_COMPILER_RULES_BUILD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/rules/expression.h"
#include "compiler/rules/match.h"
#include "compiler/rules/pattern.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// The context of building, besides a node and its operands.
struct BuildContext {
  xla::HloComputation* computation = nullptr;
  const Scope* scope = nullptr;
  // For `like`, for an opcode variable (the matched instruction whose opcode and attributes it is),
  // for the precision of a dot and the computation of a reduction. May be null.
  const xla::HloInstruction* like = nullptr;
  // The shape of a number without a written one.
  const xla::Shape* shape = nullptr;
  // Metadata to be copied. May be null.
  const xla::HloInstruction* origin = nullptr;
  // Every instruction made is appended.
  std::vector<xla::HloInstruction*>* added = nullptr;
};

// One node: its shape inferred by XLA, an equal user of its first operand reused where there is
// one, what does nothing (an identity transpose, a convert to the same type) left out. An error
// where the node makes no sense for these operands; then nothing was made.
absl::StatusOr<xla::HloInstruction*> BuildNode(const Node& node,
                                               const std::vector<xla::HloInstruction*>& operands,
                                               const BuildContext& context);

// Of the operands of node `user`: the shape that the number at `which` takes. Null where no operand
// says it.
const xla::Shape* ShapeOfNumber(const Node& user, const std::vector<xla::HloInstruction*>& operands,
                                size_t which, xla::Shape& storage);

// The replacement for a match, with the root's shape. Null where it cannot be made; then nothing
// was made. `added` holds what was made, operands before users.
absl::StatusOr<xla::HloInstruction*> BuildReplacement(const Rule& rule, const Match& match,
                                                      std::vector<xla::HloInstruction*>& added);

// Takes instructions without users outside of the list out again.
absl::Status Discard(const std::vector<xla::HloInstruction*>& added);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_BUILD_H_
