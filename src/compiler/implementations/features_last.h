// Images with features first (NCHW, as PyTorch and Equinox have them) as images with features last,
// all along a network: XLA:CPU and kernels convolve the latter, so that XLA transposes before and
// after each convolution.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_FEATURES_LAST_H_
#define HONE_COMPILER_IMPLEMENTATIONS_FEATURES_LAST_H_

#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// In root's place, the same of arrays with features last, transposed: a convolution of others, and
// what follows on such a transpose (elementwise operations, reductions, windows, paddings, slices,
// concatenations). A convolution takes its operands as they are before they are transposed. Null
// where there is nothing to move.
xla::HloInstruction* FeaturesLast(xla::HloInstruction* root);
std::vector<xla::HloOpcode> FeaturesLastRoots();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_FEATURES_LAST_H_
