// What there is to see of one nest under the decisions so far, as rows of numbers.
#ifndef HONE_LOOPS_OBSERVE_H_
#define HONE_LOOPS_OBSERVE_H_

#include <cstddef>

#include "loops/schedule.h"

namespace hone::loops {

// What is beyond is left out.
inline constexpr size_t kSeenLoops = 8;
inline constexpr size_t kSeenAccesses = 4;  // three reads, then the write
inline constexpr size_t kSeenDimensions = 6;
inline constexpr size_t kLoopFeatures = 4;  // extent, extent of a tile (both log2), reduces, exists
inline constexpr size_t kStateFeatures = 8;
inline constexpr size_t kSeenScalars = 18;  // Scalar::Kind

// Reads, then the write; null where there is none.
std::vector<const Access*> SeenAccesses(const Nest& nest);

// Each fills in what there is of `nest`, an index of the program's nests, and leaves the rest of
// `out` as it is: [kSeenLoops, kLoopFeatures], in the loops' order of now.
void ObserveLoops(const Scheduled& scheduled, size_t nest, float* out);
// [kSeenAccesses, kSeenDimensions, kSeenLoops]: coefficients
void ObserveAccesses(const Scheduled& scheduled, size_t nest, float* out);
// [kSeenScalars]: how many of each kind a point of the nest takes
void ObserveOperations(const Scheduled& scheduled, size_t nest, float* out);
// [kStateFeatures]: packed, parallel, tiles, fused, vectorised, unrolled, steps, exists
void ObserveState(const Scheduled& scheduled, size_t nest, float* out);

}  // namespace hone::loops

#endif  // HONE_LOOPS_OBSERVE_H_
