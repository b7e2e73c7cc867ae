// Sorting rows: their decisions and their text.
//
// By digits, the least first, each time stably (Knuth, The Art of Computer Programming 3, section
// 5.2.5): numbers are turned into unsigned integers in the same order, the digits of all places are
// counted in one go, and a place where all are equal is passed over, as are the lower halves of
// what was bf16.
//
// Or, of short rows, by comparisons: two places at a time are put in order, in an order of places
// that does not hang on the numbers (core/merge_exchange.h), of several rows at once, one in each
// lane of a vector.
#ifndef HONE_LOOPS_SORT_H_
#define HONE_LOOPS_SORT_H_

#include <string>
#include <vector>

#include "loops/own_text.h"

namespace hone::loops {

// What a schedule says of a nest that sorts.
//   y parallel 4,0    which processors share: rows
//   y tile 0,8        bits in a digit
//   y tile 8,1        rows at a time that are sorted by comparisons
struct SortSizes {
  int64_t parallel = 0;  // 0: not shared
  int64_t bits = 8;
  int64_t lanes = 0;  // rows at a time by comparisons; 0: by digits
};
// The longest rows that are sorted by comparisons: each is made code of.
inline constexpr int64_t kMostCompared = 64;

SortSizes SortSizesOf(const Schedule& schedule, const Nest& nest);

std::string SortText(const Schedule& schedule, const Nest& nest,
                     const std::vector<std::string>& buffers);

extern const OwnText kSorting;

}  // namespace hone::loops

#endif  // HONE_LOOPS_SORT_H_
