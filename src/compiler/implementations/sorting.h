// Sorts of a few.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_
#define HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A sort of up to 16 along its dimension, by its first array, as Batcher's network of exchanges
// (odd- even merge sort, 1968): each a comparison of slices. Null for others, and where the
// comparator does not compare the same function of both elements.
xla::HloInstruction* SmallSort(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_
