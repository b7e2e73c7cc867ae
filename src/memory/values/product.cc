#include "memory/values/product.h"

#include <algorithm>

#include "core/each_processor.h"

namespace hone::memory {
namespace {

// Four doubles side by side.
using Quad = double __attribute__((vector_size(32), aligned(8), may_alias));

// The part of the result that is kept in registers, and the blocks that stay in caches meanwhile.
constexpr int64_t kRows = 4;
constexpr int64_t kQuads = 3;
constexpr int64_t kColumns = 4 * kQuads;
constexpr int64_t kSummed = 256;
constexpr int64_t kBlockRows = 16 * kRows;
constexpr int64_t kBlockColumns = 64 * kColumns;

int64_t Size(const std::vector<int64_t>& list) { return static_cast<int64_t>(list.size()); }

// `count` of rows or columns from `begin` in panels of `width`, those that are missing as zeros;
// within a panel, one summed element after the other.
template <class At>
void Pack(int64_t width, int64_t count, int64_t summed, std::vector<double>& packed, At at) {
  packed.resize(static_cast<size_t>((count + width - 1) / width * width * summed));
  double* to = packed.data();
  for (int64_t panel = 0; panel < count; panel += width) {
    const int64_t here = std::min(width, count - panel);
    for (int64_t k = 0; k < summed; ++k, to += width) {
      for (int64_t i = 0; i < here; ++i) to[i] = at(panel + i, k);
      std::fill(to + here, to + width, 0.0);
    }
  }
}

// One panel of rows times one of columns, kRows x kColumns sums.
HONE_FOR_EACH_PROCESSOR void MultiplyPanels(const double* rows, const double* columns,
                                            int64_t summed, double* sums) {
  Quad sum[kRows][kQuads] = {};
  for (int64_t k = 0; k < summed; ++k, rows += kRows, columns += kColumns) {
    const Quad* const x = reinterpret_cast<const Quad*>(columns);
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t q = 0; q < kQuads; ++q) sum[i][q] += rows[i] * x[q];
    }
  }
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t q = 0; q < kQuads; ++q) {
      *reinterpret_cast<Quad*>(sums + i * kColumns + 4 * q) = sum[i][q];
    }
  }
}

}  // namespace

void Multiply(const Scattered& left, const Scattered& right, double* out) {
  const int64_t rows = Size(left.rows), columns = Size(right.columns);
  const int64_t all = std::min(Size(left.columns), Size(right.rows));
  std::fill_n(out, rows * columns, 0.0);
  std::vector<double> packed_left, packed_right;
  double sums[kRows * kColumns];
  for (int64_t c = 0; c < columns; c += kBlockColumns) {
    const int64_t block_columns = std::min(kBlockColumns, columns - c);
    for (int64_t k = 0; k < all; k += kSummed) {
      const int64_t summed = std::min(kSummed, all - k);
      const int64_t* const right_columns = right.columns.data() + c;
      const int64_t* const right_rows = right.rows.data() + k;
      Pack(kColumns, block_columns, summed, packed_right, [&](int64_t j, int64_t s) {
        return right.first[right_rows[s] + right_columns[j]];
      });
      for (int64_t r = 0; r < rows; r += kBlockRows) {
        const int64_t block_rows = std::min(kBlockRows, rows - r);
        const int64_t* const left_rows = left.rows.data() + r;
        const int64_t* const left_columns = left.columns.data() + k;
        Pack(kRows, block_rows, summed, packed_left, [&](int64_t i, int64_t s) {
          return left.first[left_rows[i] + left_columns[s]];
        });
        for (int64_t j = 0; j < block_columns; j += kColumns) {
          for (int64_t i = 0; i < block_rows; i += kRows) {
            MultiplyPanels(packed_left.data() + i * summed, packed_right.data() + j * summed,
                           summed, sums);
            for (int64_t y = 0; y < std::min(kRows, block_rows - i); ++y) {
              double* const to = out + (r + i + y) * columns + c + j;
              const int64_t count = std::min(kColumns, block_columns - j);
              for (int64_t x = 0; x < count; ++x) to[x] += sums[y * kColumns + x];
            }
          }
        }
      }
    }
  }
}

}  // namespace hone::memory
