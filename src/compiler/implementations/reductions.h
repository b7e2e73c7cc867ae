// Reductions in forms that XLA:CPU fuses with what makes their operand, and makes fast loops of: by
// itself it writes the operand out and adds up one element after another.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_REDUCTIONS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_REDUCTIONS_H_

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A sum over the last dimensions as a product with a vector of ones.
absl::StatusOr<xla::HloInstruction*> ReduceDotOnes(xla::HloInstruction* root);

// The operand in eight slices, put together element by element, and the reduction of what comes of
// it.
absl::StatusOr<xla::HloInstruction*> ReduceSlices(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_REDUCTIONS_H_
