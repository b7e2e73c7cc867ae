// The loops of a nest that multiplies (multiply.h), the sizes that a schedule says of them, and which
// operands are read where they lie.
#ifndef HONE_LOOPS_MULTIPLY_SIZES_H_
#define HONE_LOOPS_MULTIPLY_SIZES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "loops/machine.h"
#include "loops/nest.h"
#include "loops/schedule.h"

namespace hone::loops {

// The loops of a nest that multiplies: leading ones, rows, columns, and terms of the sum. Where
// rows, or terms, are several loops, all their iterations count as one loop, at the last of them.
struct MultiplyLoops {
  explicit MultiplyLoops(const Nest& nest);

  size_t first_row, row, column, first_term, term;
  int64_t rows, columns, terms;  // iterations

  // Of a loop, or of all that count at it.
  int64_t Extent(const Nest& nest, size_t loop) const {
    return loop == row ? rows : loop == term ? terms : nest.loops[loop].extent;
  }
  // Whether a size may be said of the loop.
  bool Counts(size_t loop) const {
    return loop < first_row || loop == row || loop == column || loop == term;
  }
};

// Whether the second operand's memory runs along all loops of the sum but the last one within that
// one: a convolution's kernel whose taps lie behind features, as [F, C, taps...].
bool TapsLie(const Nest& nest);

// Whether it is a product of few rows whose second operand is read where it lies, a vector at a
// time (multiply_in_place.cc). What a schedule says of packed columns and terms is then how many
// sums wait, and how many lines of memory are read side by side.
bool AreFewRows(const Nest& nest);

// The loop whose neighbouring iterations are neighbours in an array's memory; -1 where none is.
int LoopAlong(const Access& access);

// The least and the largest index of a dimension; whether all are within the array.
std::pair<int64_t, int64_t> RangeOf(const Nest& nest, const Access& access, size_t dimension);
bool LiesWithin(const Nest& nest, const Access& access);

// Whether the first operand is read where it lies, number by number, and only the second one is
// packed: its memory runs along the last loop of the sum, and nothing is outside. What a schedule
// says of packed rows is then how many rows pass by a block of the second operand, before its next
// columns do.
bool RowsLie(const Nest& nest);

// What a schedule says of it. Sizes need not divide anything.
//   y parallel 1,128,0,0    leading loops, rows and columns, which processors share
//   y tile 0,112,256,256    rows, columns and terms that are packed at once
//   y tile 0,8,32,0         rows and columns in registers
// 32 rows and 32 columns are in the tiles of a matrix unit instead (multiply_tiles.cc); with two
// terms at once, `32,32,2`, in registers of pairs of bf16 (multiply_pairs.cc).
struct MultiplySizes {
  std::vector<int64_t> parallel;  // 0: not shared
  int64_t packed_rows = 64;
  int64_t packed_columns = 256;
  int64_t packed_terms = 256;
  int64_t rows = 4;
  int64_t columns = 16;
  int64_t terms = 1;

  static constexpr int64_t kMostRows = 16;
  static constexpr int64_t kFewRows = 8;  // for which nothing is packed
  static constexpr int64_t kTiled = 32;   // rows, columns, and terms of a block in tiles
  static constexpr int64_t kPair = 2;     // terms at once, of pairs
  static constexpr int64_t kMostPackedBytes = 448 << 10;
  static constexpr int64_t kMostPackedAsTiles = 1 << 20;  // such processors have 1 or 2 MiB beside each
  static constexpr int64_t kMostTransposed = 16;  // lines and terms of a square in registers

  // Whether what is packed is numbers of bf16, as tiles take them.
  bool AsTiles() const { return rows == kTiled; }
  Unit unit() const {
    return !AsTiles() ? Unit::kVectors : terms == kPair ? Unit::kPairs : Unit::kTiles;
  }
  // Terms that are packed at once: some iterations of the sum's last loop, for some of all its
  // others'. Where taps lie behind features, for all of them.
  struct Terms {
    int64_t outer, inner;
  };
  Terms AtOnce(const Nest& nest) const;
  // From one row of a panel of the first operand to the next.
  int64_t RowsApart() const;
  // Of a row, or a column, that is packed as tiles are.
  int64_t LineBytesAsTiles(const Nest& nest, size_t read) const;
  // Of both operands' buffers, at most.
  int64_t PackedBytes(const Nest& nest) const;
  int64_t MostPackedBytes() const { return AsTiles() ? kMostPackedAsTiles : kMostPackedBytes; }
};
MultiplySizes MultiplySizesOf(const Schedule& schedule, const Nest& nest);
// Whether a unit can do it that multiplies bf16.
bool MayBeBy(Unit unit, const Nest& nest);

}  // namespace hone::loops

#endif  // HONE_LOOPS_MULTIPLY_SIZES_H_
