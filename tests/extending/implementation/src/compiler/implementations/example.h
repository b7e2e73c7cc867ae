// An example: a product with itself as a power.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_EXAMPLE_H_
#define HONE_COMPILER_IMPLEMENTATIONS_EXAMPLE_H_

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

absl::StatusOr<xla::HloInstruction*> SquareAsPower(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_EXAMPLE_H_
