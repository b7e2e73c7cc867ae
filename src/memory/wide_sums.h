// Sums of 16-bit numbers in 32 bits, so that they can be made in parts.
#ifndef HONE_MEMORY_WIDE_SUMS_H_
#define HONE_MEMORY_WIDE_SUMS_H_

#include "memory/network.h"

namespace hone::memory {

// Products and convolutions with 16-bit results and an operand of at least `huge_bytes`, which has
// at least twice the bytes of the result in 32 bits, are summed in 32 bits and rounded once, by a
// conversion right after them. What the conversion reads is `part_of` the result.
Network SumWide(Network network, int64_t huge_bytes);

}  // namespace hone::memory

#endif  // HONE_MEMORY_WIDE_SUMS_H_
