// Which elements of its operands a gather or a scatter needs, as far as its attributes tell.
#ifndef HONE_MEMORY_ACCESS_BY_INDEX_H_
#define HONE_MEMORY_ACCESS_BY_INDEX_H_

#include "memory/network.h"

namespace hone::memory {

// Of operand `operand` of a gather, to compute `out` of its result.
Box GatherInput(const Network& network, const Op& op, size_t operand, const Box& out);

// The same of a scatter of one operand, of which `out` itself is needed. Any update may fall into
// it, so all of them are needed but for what lies beside it along dimensions of which every update
// has the whole, or its own place.
Box ScatterInput(const Network& network, const Op& op, size_t operand, const Box& out);

}  // namespace hone::memory

#endif  // HONE_MEMORY_ACCESS_BY_INDEX_H_
