// Steps of random programs beyond arrays of single-precision numbers.
#ifndef HONE_TESTS_MEMORY_RANDOM_WIDER_H_
#define HONE_TESTS_MEMORY_RANDOM_WIDER_H_

#include <functional>
#include <random>

#include "random_computation.h"

namespace hone::memory {

// The computations that every random program begins with.
enum Called : uint32_t { kAdd, kMaximum, kMinimum, kGreaterEqual, kLess };

// A program while it is made.
struct Making {
  std::mt19937_64& random;
  RandomProgram& program;
  Computation& entry;
  std::function<uint32_t()> any;                     // of the values that are there
  std::function<uint32_t(const Dimensions&)> like;   // one of these dimensions
  std::function<uint32_t(uint32_t)> computed;        // a one that only the running program knows
};

// One more value of single-precision numbers, made of those that are there.
uint32_t WiderStep(const Making& making);

}  // namespace hone::memory

#endif  // HONE_TESTS_MEMORY_RANDOM_WIDER_H_
