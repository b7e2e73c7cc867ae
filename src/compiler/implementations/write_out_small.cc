// What XLA:CPU does by a call of LAPACK, a comparator or a loop for each of a few elements, as
// elementwise operations on the batch: these fuse, run in vectors, and may be part of a loop that
// is one kernel (loops.cc).
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/small_arrays.h"
#include "compiler/implementations/small_matrices.h"
#include "compiler/implementations/sorting.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

using xla::HloOpcode;

std::vector<HloOpcode> WriteOutSmallRoots() {
  return {HloOpcode::kCustomCall, HloOpcode::kTriangularSolve, HloOpcode::kCholesky,
          HloOpcode::kGather,     HloOpcode::kScatter,         HloOpcode::kSort};
}

// LU of matrices of up to 4 by 4, Cholesky and triangular solves of up to 8 by 8
// (small_matrices.h); a gather of one of up to 8 elements, a scatter of one into few
// (small_arrays.h); sorts of up to 16 (sorting.h).
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
