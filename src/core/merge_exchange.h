// A network that sorts by exchanges.
#ifndef HONE_CORE_MERGE_EXCHANGE_H_
#define HONE_CORE_MERGE_EXCHANGE_H_

#include <algorithm>
#include <cstdint>

namespace hone {

// Calls `exchange(i, j)` of places i < j below `size`, which is to put what stands there in order:
// after all of these everything is, whatever it was before (Batcher's merge exchange: Knuth, The
// Art of Computer Programming 3, algorithm 5.2.2M).
template <class Exchange>
void ForEachExchange(int64_t size, const Exchange& exchange) {
  for (int64_t p = 1; p < size; p *= 2) {
    for (int64_t d = p; d >= 1; d /= 2) {
      for (int64_t j = d % p; j + d < size; j += 2 * d) {
        for (int64_t i = j; i < std::min(j + d, size - d); ++i) {
          if (i / (2 * p) == (i + d) / (2 * p)) exchange(i, i + d);
        }
      }
    }
  }
}

}  // namespace hone

#endif  // HONE_CORE_MERGE_EXCHANGE_H_
