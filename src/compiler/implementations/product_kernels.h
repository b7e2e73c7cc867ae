// Products of matrices as kernels of hone-loops.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_PRODUCT_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_PRODUCT_KERNELS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// A dot of floats, with a transpose before or after it, becomes a custom call `hone_loops`
// (core/native_kernel.h) that computes a product (loops/task.h), where both sides are large enough
// for packed panels, or one of them has a few rows. Batches may lie anywhere; of what is
// summed, and of what each side keeps, the dimensions lie next to one another. Left alone: what
// attention is made of, which is one kernel as a whole.
// Bytes that are scaled by columns are scaled afterwards (DotScaledAfter).
// What is elementwise behind it and needs it alone (a bias, an activation, a residual, a gradient's
// mask) is computed in the same kernel; of narrow floats in f32, rounded at its end.
absl::StatusOr<xla::HloInstruction*> ProductKernels(xla::HloInstruction* root);
std::vector<xla::HloOpcode> ProductKernelsRoots();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_PRODUCT_KERNELS_H_
