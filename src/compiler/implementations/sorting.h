// Sorting, the largest few, and the place of the largest.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_
#define HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A sort of up to 16 along its dimension, by its first array, as Batcher's network of exchanges
// (odd- even merge sort, 1968): each a comparison of slices. Null for others, and where the
// comparator does not compare the same function of both elements.
xla::HloInstruction* SmallSort(xla::HloInstruction* root);

// The largest few of narrow floats, found in f32, which holds them exactly and in the same order:
// XLA:CPU has a fast way for f32 alone.
absl::StatusOr<xla::HloInstruction*> TopKInF32(xla::HloInstruction* root);

// The largest few as the call that XLA:CPU has for rows of f32, which makes no whole sort. XLA finds
// it in a sort behind which there is a slice, unless other passes move that first. Of up to 32 bits
// of floats and 16 of integers.
absl::StatusOr<xla::HloInstruction*> TopKCall(xla::HloInstruction* root);

// The first or last few of a sort, at most a quarter, as a top-k: of the keys, or of the positions
// beside them (the first few only: ties would come in another order). Floats of up to 32 bits.
absl::StatusOr<xla::HloInstruction*> SortTopK(xla::HloInstruction* root);

// A sort by the first of its arrays as a sort of unsigned integers that hold the key in the high
// bits and the position in the low ones. XLA:CPU sorts those without calling a comparator, and no
// two are equal, so that the order is that of a stable sort. The other arrays, and values that do
// not fit in, are looked up by the positions. The comparator must compare the same function of both
// elements, in so few bits that positions fit in beside them.
absl::StatusOr<xla::HloInstruction*> SortPackedKeys(xla::HloInstruction* root);

// A reduce to the largest (smallest) element and its first position as a reduce to the element and
// then one to the first position that has it.
absl::StatusOr<xla::HloInstruction*> ArgmaxTwoReduces(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_SORTING_H_
