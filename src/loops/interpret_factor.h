// What lu, cholesky and solve (task.h) make of one matrix, step by step.
#ifndef HONE_LOOPS_INTERPRET_FACTOR_H_
#define HONE_LOOPS_INTERPRET_FACTOR_H_

#include <cstdint>
#include <functional>

#include "loops/interpret.h"
#include "loops/task.h"

namespace hone::loops {

struct FactorInputs {
  const double* matrix = nullptr;  // n by n
  const double* right = nullptr;   // of solve: n by `columns`
  int64_t n = 0;
  int64_t columns = 0;  // of solve
};

// `round`: to the precision that is computed in, after each step.
Values InterpretFactor(const Operation& op, const FactorInputs& inputs,
                       const std::function<double(double)>& round);

}  // namespace hone::loops

#endif  // HONE_LOOPS_INTERPRET_FACTOR_H_
