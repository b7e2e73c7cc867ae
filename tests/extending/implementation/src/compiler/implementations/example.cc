#include "compiler/implementations/example.h"

namespace hone::compiler {

// Applies nowhere.
absl::StatusOr<xla::HloInstruction*> SquareAsPower::Replacement(xla::HloInstruction*) const {
  return nullptr;
}

}  // namespace hone::compiler
