// Orders of operators.
#ifndef HONE_MEMORY_PLANNING_ORDER_H_
#define HONE_MEMORY_PLANNING_ORDER_H_

#include "memory/planning/groups.h"

namespace hone::memory {

// Of the operators that are ready, always the one that leaves the fewest bytes more on the chip:
// its results, less the operands that it is the last to read; ties by the program's order. n log n.
std::vector<OpId> PeakAwareOrder(const Target& target);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_ORDER_H_
