// Matrix products.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A dot of two arrays that have elements and that another instruction may take the place of.
bool IsAnyDot(const xla::HloInstruction& root);
// The same, of none that are complex.
bool IsPlainDot(const xla::HloInstruction& root);

// A dot of integers of 8 bits, converted and scaled by what the dot keeps of them (weights that
// were quantised by columns): scaled afterwards, in the type of sums. x (w * s) = (x w) * s, for s
// of w's columns. So w is read as it lies, and what is scaled is smaller.
absl::StatusOr<xla::HloInstruction*> DotScaledAfter(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_DOTS_H_
