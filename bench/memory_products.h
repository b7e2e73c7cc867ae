// The simulator's products beside Eigen's.
#ifndef HONE_BENCH_MEMORY_PRODUCTS_H_
#define HONE_BENCH_MEMORY_PRODUCTS_H_

namespace hone::memory {

// Prints processor time of both for sizes of an encoder of width 768.
void CompareProducts();

}  // namespace hone::memory

#endif  // HONE_BENCH_MEMORY_PRODUCTS_H_
