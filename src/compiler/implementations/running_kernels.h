// Running sums, products, maxima and minima as kernels of hone-loops. XLA:CPU makes a tree of
// windows of them.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_RUNNING_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_RUNNING_KERNELS_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A call in the place of a running sum, product, maximum or minimum of f32, f64 or s32; null where
// `root` is none.
xla::HloInstruction* RunningCall(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_RUNNING_KERNELS_H_
