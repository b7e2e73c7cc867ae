// Bounds of arrays of whole numbers, by what they are made of.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_WHOLE_NUMBERS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_WHOLE_NUMBERS_H_

#include <optional>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

struct WholeNumbers {
  double least = 0;
  double most = 0;
};

// The bounds of an array whose elements are whole numbers for sure: counters, constants, integers
// of few bits, sums, products and choices of such. They hold, and need not be reached. Nothing
// where an element may be a fraction, or larger than its type has all whole numbers.
std::optional<WholeNumbers> WholeNumbersOf(const xla::HloInstruction& array);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_WHOLE_NUMBERS_H_
