// Transpositions as kernels of hone-loops. XLA:CPU's loops write one element after another as the
// result lies, and read each from another line of memory.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_TRANSPOSE_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_TRANSPOSE_KERNELS_H_

#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// The value with its dimensions permuted: by a custom call `hone_loops` (core/native_kernel.h) that
// moves squares of vectors, where something else comes to run along memory and it is not small;
// else by a transpose.
xla::HloInstruction* TransposedByKernel(xla::HloInstruction* value,
                                        const std::vector<int64_t>& permutation);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_TRANSPOSE_KERNELS_H_
