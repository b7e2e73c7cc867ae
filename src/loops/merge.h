// Loops of nests that are none, and such that are one.
#ifndef HONE_LOOPS_MERGE_H_
#define HONE_LOOPS_MERGE_H_

#include <vector>

#include "loops/nest.h"

namespace hone::loops {

// Leaves loops of a single iteration out, but for the last loop that there is.
void DropUnitLoops(Nest& nest);

// Loops that run through memory as one, where they do so in all nests: else a tensor would have
// another shape for who makes it than for who takes it, and neither could be fused into the other.
// What has a text of its own keeps its loops.
void MergeLoops(std::vector<Nest>& nests);
// Where they do so in this one, for a nest that is not to be fused.
void MergeLoops(Nest& nest);

// Of a nest that multiplies: all of its rows as one loop, and all terms, where they run through
// memory so; else it stays. So a convolution at a point is a product of two matrices.
void MergeToProduct(Nest& nest);

}  // namespace hone::loops

#endif  // HONE_LOOPS_MERGE_H_
