// The custom call `hone_noise`: an array of floats, each moved as another rounding would have it.
//
// With the same law as the noise within a program (run/rounding_noise.h), on a whole array that is
// stored: x * (1 +- so many spacings), the sign from x's bits and the seed; x itself where it has
// few significant bits, as integers have.
#ifndef HONE_COMPILER_CUSTOM_CALLS_STORED_NOISE_H_
#define HONE_COMPILER_CUSTOM_CALLS_STORED_NOISE_H_

#include <cstdint>

namespace hone::compiler {

inline constexpr char kNoiseCall[] = "hone_noise";
inline constexpr char kNoiseSalt[] = "salt";    // i64: tells one call's noise from another's
inline constexpr char kNoiseSteps[] = "steps";  // f32: spacings

// Of all calls that run from now on.
void SeedStoredNoise(uint32_t seed);

// What an array is made of; complex numbers are two each.
enum class StoredFloat { kBf16, kF16, kF32, kF64 };
class StoredNoise {
 public:
  StoredNoise(StoredFloat type, uint64_t salt, float steps);

  int64_t width() const;  // bytes of one
  // `to` may be `from`.
  void Move(const void* from, void* to, int64_t count) const;

 private:
  StoredFloat type_;
  uint64_t added_, mix_;
  float steps_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_STORED_NOISE_H_
