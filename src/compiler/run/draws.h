// Numbers that are drawn many at a time: one draw for each.
#ifndef HONE_COMPILER_RUN_DRAWS_H_
#define HONE_COMPILER_RUN_DRAWS_H_

#include <cstdint>

#include "core/mix_bits.h"

namespace hone::compiler {

// What one draw makes: the sum of four uniform numbers, centred and scaled to unit variance,
// bell-shaped and bounded by 3.5. The scale is irrational, so all bits of a mantissa are in use.
inline double BellOf(uint64_t draw) {
  const auto sum = static_cast<int32_t>((draw & 0xFFFF) + ((draw >> 16) & 0xFFFF) +
                                        ((draw >> 32) & 0xFFFF) + (draw >> 48));
  return (static_cast<double>(sum) / 65536.0 - 2.0) * 1.7320508075688772;
}
// In [0, 1).
inline double UniformOf(uint64_t draw) {
  return static_cast<double>(static_cast<int64_t>(draw >> 11)) * 0x1.0p-53;
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t operator()() { return MixBits(state_ += kSplitMixStep); }
  // In [0, bound); as good as uniform for the small bounds here.
  uint64_t Below(uint64_t bound) {
    return bound <= 0xFFFFFFFFull ? ((*this)() >> 32) * bound >> 32 : (*this)() % bound;
  }
  // The next so many draws.
  void Fill(uint64_t* draws, int64_t count);

 private:
  uint64_t state_;
};

// A number made of one draw: (least + factor * x) * times / over.
struct Distribution {
  enum What {
    kBell,
    kAbsoluteBell,
    kUniform,
    kMagnitudes,  // of kBell's some are made smaller, by 4, 16 or 64
  };
  What what = kBell;
  double factor = 1, least = 0, times = 1, over = 1;

  // The same bytes on any processor.
  void Fill(Generator& generator, double* values, int64_t count) const;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_DRAWS_H_
