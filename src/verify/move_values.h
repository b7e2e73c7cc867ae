// Floating-point values changed by little: by one unit in the last place, or by up to a percent.
#ifndef HONE_VERIFY_MOVE_VALUES_H_
#define HONE_VERIFY_MOVE_VALUES_H_

#include <cstdint>

#include "verify/element_types.h"

namespace hone::verify {

// Moves each floating-point value with more than a few significant bits up or down, at random, by
// one unit in its last place. Types of 8 bits and exact ones stay as they are.
void MoveByOneUnit(const ElementType& type, void* data, int64_t elements, uint64_t seed);

// Multiplies each value by something in [0.99, 1.01]. Types of 8 bits, f16 and exact ones stay.
void MoveNearby(const ElementType& type, void* data, int64_t elements, uint64_t seed);

}  // namespace hone::verify

#endif  // HONE_VERIFY_MOVE_VALUES_H_
