// An example: a product with itself as a power.
#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Applies nowhere.
absl::StatusOr<xla::HloInstruction*> SquareAsPower(xla::HloInstruction*) { return nullptr; }

}  // namespace hone::compiler
