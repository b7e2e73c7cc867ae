// Convolutions of each feature by itself: their decisions and their text.
//
// A vector is of neighbouring features. Sums for several positions along the last spatial dimension
// stay in registers while windows slide over them: what is read at a place is read once for all of
// these positions that take it (Zhang, Lo and Lu, "High Performance Depthwise and Pointwise
// Convolutions on Mobile Devices", AAAI 2020). Nothing is padded: of the other dimensions only the
// taps inside are gone through, and along the last one the blocks at both ends leave out what lies
// outside. The kernel is laid out anew first, once in each part.
#ifndef HONE_LOOPS_DEPTHWISE_H_
#define HONE_LOOPS_DEPTHWISE_H_

#include <string>
#include <vector>

#include "loops/own_text.h"

namespace hone::loops {

// The loops of a nest that slides: batches, positions, features, taps.
struct SlidingLoops {
  explicit SlidingLoops(const Nest& nest)
      : spatial((nest.loops.size() - 2) / 2), along(spatial), feature(spatial + 1) {}

  size_t spatial;         // dimensions
  size_t along, feature;  // the loop of the last one's positions, and of features
  size_t Tap(size_t dimension) const { return feature + 1 + dimension; }
};

// What a schedule says of it. Sizes need not divide anything.
//   y parallel 1,28,0,0,0,0   which processors share; taps stay whole
//   y tile 0,0,8,16,0,0       positions, and features of each, that are summed up at once
struct SlidingSizes {
  std::vector<int64_t> parallel;  // 0: not shared
  int64_t positions = 8;
  int64_t lanes = 8;

  static constexpr int64_t kMostPositions = 16;
};
SlidingSizes SlidingSizesOf(const Schedule& schedule, const Nest& nest);

std::string SlidingText(const Schedule& schedule, const Nest& nest,
                        const std::vector<std::string>& buffers);

extern const OwnText kSliding;

}  // namespace hone::loops

#endif  // HONE_LOOPS_DEPTHWISE_H_
