// What other ways to run a program would move, and what no way can do without.
#ifndef HONE_MEMORY_BASELINES_H_
#define HONE_MEMORY_BASELINES_H_

#include "memory/machine.h"
#include "memory/network.h"

namespace hone::memory {

struct Baseline {
  int64_t dram_bytes = 0;
  int64_t copies = 0;  // on the chip: movement operators, and operands in another layout than asked
  double seconds = 0;  // estimated
};

// Every operator, movements of bytes included, loads its operands and stores its result. Reshapes,
// broadcasts, iotas and literals are free, operands are loaded once each, updates in place; a
// product moves what its part of LowerBound says, where that is more.
Baseline OperatorBaseline(const Network& network, const Machine& machine);

// Groups as XLA fuses: elementwise operators and movements join their only consumer, products and
// reductions take their elementwise successors with them; each group loads and stores, products as
// above.
Baseline LocalBaseline(const Network& network, const Machine& machine);

// Tensors (of operators and of movements of bytes) that are stored by their operator and loaded by
// others when operators run one by one. Of them, `moved` never exist in a plan: movements.
struct Pairs {
  int64_t all = 0;
  int64_t moved = 0;
  std::vector<TensorId> tensors;  // those of operators
};
Pairs StoreLoadPairs(const Network& network);

// Bytes that every schedule moves: what is read of parameters and constants, once, and all outputs
// once; or, where it is more, the sum of what each product must move on its own with this
// scratchpad. Products: 2 m n k / sqrt(S) - 2 S words (Smith et al. 2019, "A Tight I/O Lower Bound
// for Matrix Multiplication"); convolutions: products of the same size with the reuse R = kernel
// places / strides of a window, 2 macs / sqrt(R S) - 2 S (Chen et al. 2020, "Communication Lower
// Bound in Convolution Accelerators").
struct Bound {
  int64_t compulsory_bytes = 0;
  int64_t products_bytes = 0;
  int64_t dram_bytes() const {
    return compulsory_bytes > products_bytes ? compulsory_bytes : products_bytes;
  }
};
Bound LowerBound(const Network& network, const Machine& machine);

}  // namespace hone::memory

#endif  // HONE_MEMORY_BASELINES_H_
