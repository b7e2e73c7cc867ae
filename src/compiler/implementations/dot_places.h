// Where the dimensions of a dot's result come from.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_DOT_PLACES_H_
#define HONE_COMPILER_IMPLEMENTATIONS_DOT_PLACES_H_

#include <cstdint>
#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Of which operand, and which of its dimensions.
struct DotPlace {
  int operand = 0;  // 0 also for batches
  int64_t dimension = 0;
  int64_t other = -1;  // of the second operand, for batches
};

// One a dimension of the result.
std::vector<DotPlace> ResultPlaces(const xla::HloInstruction& dot);
// The dimension of the result that this one of an operand is, which is not summed over.
int64_t ResultPlaceOf(const xla::HloInstruction& dot, int operand, int64_t dimension);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_DOT_PLACES_H_
