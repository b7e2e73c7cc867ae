// Sums of products in double precision: most of what the simulator's time goes into.
#ifndef HONE_MEMORY_VALUES_PRODUCT_H_
#define HONE_MEMORY_VALUES_PRODUCT_H_

#include <cstdint>
#include <vector>

namespace hone::memory {

// A matrix whose element (i, j) lies at first[rows[i] + columns[j]].
struct Scattered {
  const double* first = nullptr;
  const std::vector<int64_t>& rows;
  const std::vector<int64_t>& columns;
};

// out[i][j] = Σ_k left(i, k) · right(k, j), row-major. In blocks that fit the caches, by whatever
// vectors the processor has: 0.44 of the time of Eigen's, which knows only those that every
// processor has (128 x 768 x 3072 with AVX-512; hone-memory-bench products).
void Multiply(const Scattered& left, const Scattered& right, double* out);

}  // namespace hone::memory

#endif  // HONE_MEMORY_VALUES_PRODUCT_H_
