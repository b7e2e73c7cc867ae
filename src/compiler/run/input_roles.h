// The uses of each entry parameter, so that legal values can be made for it.
//
// Found by following every parameter leaf forward through data movement (converts, reshapes,
// slices, tuples, loops, calls, …) to the instructions that constrain its values. Anything that
// the walk does not understand leaves the role plain: it can make a value unrealistic, never
// unfair, for both programs get the same bytes.
#ifndef HONE_COMPILER_RUN_INPUT_ROLES_H_
#define HONE_COMPILER_RUN_INPUT_ROLES_H_

#include <cstdint>
#include <vector>

#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape.h"

namespace hone::compiler {

// Of one array among the flattened entry parameters.
struct InputRole {
  xla::Shape shape;                // without layout
  int64_t index_bound = 0;         // > 0: indexes a dimension, legal values are [0, index_bound)
  bool random_bits = false;        // unsigned, feeds a random number generator: all bits random
  bool positive = false;           // reaches a square root, a logarithm or a denominator
  bool positive_definite = false;  // reaches a Cholesky factorisation or a triangular solve
  int64_t fan_in = 0;  // > 0: operand of a dot or convolution that sums so many products
};

// In flattened order of the entry parameters: parameter 0's leaves first.
std::vector<InputRole> FindInputRoles(const xla::HloModule& module);

// The same of a constant.
InputRole FindConstantRole(const xla::HloInstruction& constant);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_INPUT_ROLES_H_
