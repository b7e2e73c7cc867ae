// Random numbers that are the same on every machine and standard library.
#ifndef HONE_CORE_RNG_H_
#define HONE_CORE_RNG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/mix_bits.h"

namespace hone {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t Next() { return MixBits(state_ += kSplitMixStep); }
  // A generator that is made with it goes on as this one.
  uint64_t state() const { return state_; }
  // Uniform in [0, n); n > 0. The bias of at most n/2^64 is of no matter here.
  size_t Below(size_t n) { return static_cast<size_t>(Next() % n); }
  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  template <class T>
  const T& Pick(const std::vector<T>& values) {
    return values[Below(values.size())];
  }

  // An index, with probability in proportion to its weight; weights are not all zero.
  size_t Weighted(const std::vector<double>& weights) {
    double sum = 0;
    for (double weight : weights) sum += weight;
    double left = Unit() * sum;
    for (size_t i = 0; i < weights.size(); ++i) {
      if ((left -= weights[i]) < 0) return i;
    }
    return weights.size() - 1;
  }

 private:
  uint64_t state_;
};

}  // namespace hone

#endif  // HONE_CORE_RNG_H_
