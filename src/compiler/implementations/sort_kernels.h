// Sorts as kernels of hone-loops, which sort by digits. XLA:CPU calls a comparator for each pair.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_SORT_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_SORT_KERNELS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A sort of one array as sorted numbers; of several, or by what elements cannot be had from, as the
// places that they come from, by which arrays are looked up. Null for few elements, and where the
// comparator does not compare the same functions of both, one after another.
absl::StatusOr<xla::HloInstruction*> SortKernels(xla::HloInstruction* root);
std::vector<xla::HloOpcode> SortKernelsRoots();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_SORT_KERNELS_H_
