// What XLA:CPU does by a call of LAPACK, a comparator or a loop for each of a few elements, as
// elementwise operations on the batch: these fuse, run in vectors, and may be part of a loop that
// is one kernel (loops.h).
#ifndef HONE_COMPILER_IMPLEMENTATIONS_WRITE_OUT_SMALL_H_
#define HONE_COMPILER_IMPLEMENTATIONS_WRITE_OUT_SMALL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// LU of matrices of up to 4 by 4, Cholesky and triangular solves of up to 8 by 8
// (small_matrices.h); a gather of one of up to 8 elements, a scatter of one into few
// (small_arrays.h); sorts of up to 16 (sorting.h).
absl::StatusOr<xla::HloInstruction*> WriteOutSmall(xla::HloInstruction* root);
std::vector<xla::HloOpcode> WriteOutSmallRoots();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_WRITE_OUT_SMALL_H_
