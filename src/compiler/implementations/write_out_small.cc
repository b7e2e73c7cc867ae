#include "compiler/implementations/write_out_small.h"

#include "compiler/implementations/small_arrays.h"
#include "compiler/implementations/small_matrices.h"
#include "compiler/implementations/sorting.h"

namespace hone::compiler {

using xla::HloOpcode;

std::vector<HloOpcode> WriteOutSmallRoots() {
  return {HloOpcode::kCustomCall, HloOpcode::kTriangularSolve, HloOpcode::kCholesky,
          HloOpcode::kGather,     HloOpcode::kScatter,         HloOpcode::kSort};
}

absl::StatusOr<xla::HloInstruction*> WriteOutSmall(xla::HloInstruction* root) {
  switch (root->opcode()) {
    case HloOpcode::kCustomCall:
    case HloOpcode::kTriangularSolve:
    case HloOpcode::kCholesky:
      return SmallMatrices(root);
    case HloOpcode::kGather:
      return SmallGather(root);
    case HloOpcode::kScatter:
      return SmallScatter(root);
    case HloOpcode::kSort:
      return SmallSort(root);
    default:
      return nullptr;
  }
}

}  // namespace hone::compiler
