// Sizes of tiles, by rules of thumb, for what is computed row by row and for windows that slide
// along memory. Measured on one core with AVX-512 (docs/loops.md).
#ifndef HONE_LOOPS_DEFAULT_ROWS_H_
#define HONE_LOOPS_DEFAULT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "loops/machine.h"
#include "loops/schedule.h"

namespace hone::loops {

// Rows that are computed at a time, with what leads to them, so that it stays near and none of the
// loops is short: where sums lead to them (`sums`, on any way) 16 to 32, or to 64 of short ones;
// else as few as make 256 elements. Fewer where no such number divides what there is. `loops` are
// of a tile as it stands, the row last; a number for each, 0 for the row.
std::vector<int64_t> RowsAtATime(const std::vector<Loop>& loops, Element element, bool sums);
// Whether one nest after the other is as good: there are too few of these rows to fill vectors, or
// no sums wait for anything, and all that is computed lies in a cache anyway.
bool AllAtOnce(const Nest& nest, const std::vector<int64_t>& rows, bool sums);

// How much of a transposition is read and written at once as vectors: of the loop that runs through
// the result's memory, and of the `other` that runs through the operand's. Nothing where the sizes
// make small or crooked vectors only, and plain loops are as good.
std::optional<std::pair<int64_t, int64_t>> SquareOf(const Nest& nest, size_t inner, size_t other,
                                                    const Machine& machine);

// How far a window moves along memory from one result to its neighbour, and how wide it is there;
// stride 0 where there is none. `inner` is the loop of neighbours.
struct Window {
  int64_t stride = 0, width = 1;
};
Window WindowOf(const Nest& nest, size_t inner);

// Neighbours along memory as vectors, a few rows of them in registers while the window passes over:
// tiles of the results, then of the window. Nothing where the window leaps, or no part of the inner
// loop is of a good size.
struct WindowTiles {
  std::vector<int64_t> results, window;
};
std::optional<WindowTiles> TilesOfWindows(const Nest& nest, size_t inner, const Machine& machine);

// Whether a window that leaps is read whole for each result, where the other way is its rows one
// after the other, each for a row of results. Of short rows that makes vectors of no size, where
// LLVM makes some of the loops around.
bool WindowByWindow(const Nest& nest, size_t inner, const Machine& machine);

}  // namespace hone::loops

#endif  // HONE_LOOPS_DEFAULT_ROWS_H_
