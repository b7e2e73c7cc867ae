// Matrix products in another type or form.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Narrow floats converted to f32 and back.
absl::StatusOr<xla::HloInstruction*> DotInF32(xla::HloInstruction* root);

// Many small products at once as a multiplication and a sum: a call per product costs more than it.
absl::StatusOr<xla::HloInstruction*> BatchedDotReduce(xla::HloInstruction* root);

// A product with few terms as their sum: one loop over the result, where a library that packs its
// operands takes many times as long.
absl::StatusOr<xla::HloInstruction*> ThinDotSum(xla::HloInstruction* root);

// Transposed operands as they were, other dimensions contracted: of a matrix times a vector XLA:CPU
// copies a transposed matrix first. As the rules dot_of_transpose_left and _right have it, and also
// where it saves no instruction, for the transpose has other users.
absl::StatusOr<xla::HloInstruction*> DotOfTransposes(xla::HloInstruction* root);

// The operands changed round, the result transposed; of a matrix times a vector, the vector times
// the matrix.
absl::StatusOr<xla::HloInstruction*> DotSwapped(xla::HloInstruction* root);

// A dot of integers of 8 bits, converted and scaled by what the dot keeps of them (weights that
// were quantised by columns): scaled afterwards, in the type of sums. x (w * s) = (x w) * s, for s
// of w's columns. So w is read as it lies, and what is scaled is smaller.
absl::StatusOr<xla::HloInstruction*> DotScaledAfter(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_
