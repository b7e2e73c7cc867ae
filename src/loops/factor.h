// Small matrices of a batch, factored or solved with: their decisions and their text.
//
// One matrix lies in each lane of a vector, and the textbook's steps are taken of all lanes at once
// (Golub and Van Loan, Matrix Computations, sections 3.1, 3.4 and 4.2): LU with the rows exchanged
// as LAPACK's getrf does, Cholesky, triangular systems.
#ifndef HONE_LOOPS_FACTOR_H_
#define HONE_LOOPS_FACTOR_H_

#include <string>
#include <vector>

#include "loops/own_text.h"

namespace hone::loops {

// What a schedule says of a nest that factors.
//   y parallel 64,0,0,0   which processors share: matrices
//   y tile 8,0,0,0        matrices side by side, in the lanes of a vector
struct FactorSizes {
  int64_t parallel = 0;  // 0: not shared
  int64_t lanes = 1;
};

FactorSizes FactorSizesOf(const Schedule& schedule, const Nest& nest);

std::string FactorText(const Schedule& schedule, const Nest& nest,
                       const std::vector<std::string>& buffers);

extern const OwnText kFactoring;

}  // namespace hone::loops

#endif  // HONE_LOOPS_FACTOR_H_
