#include "compiler/custom_calls/stored_noise.h"

#include <atomic>
#include <cstring>

#include "core/each_processor.h"

namespace hone::compiler {
namespace {

std::atomic<uint32_t> seed_of_all{0};

// run/rounding_noise.cc says why each number is what it is.
constexpr uint64_t kMix = 0x9E3779B97F4A7C15ull;
constexpr uint64_t kSaltMix = 2 * 0x632BE5ABull;
constexpr float kOtherNumber = 0.505f;

// x * (1 +- relative); x itself where it has no bits but `few`'s complement.
inline float Moved(float x, uint32_t added, uint32_t mix, uint32_t few, float relative) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const uint32_t mixed = (bits + added) * mix;
  const float factor = mixed < (1u << 31) ? 1 + relative : 1 - relative;
  return (bits & few) == 0 ? x : x * factor;
}

HONE_FOR_EACH_PROCESSOR void MoveF32(const float* x, float* y, int64_t count, uint32_t added,
                                     uint32_t mix, float relative) {
  for (int64_t i = 0; i < count; ++i) y[i] = Moved(x[i], added, mix, (1u << 12) - 1, relative);
}

HONE_FOR_EACH_PROCESSOR void MoveF64(const double* x, double* y, int64_t count, uint64_t added,
                                     uint64_t mix, double relative) {
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits;
    std::memcpy(&bits, &x[i], sizeof(bits));
    const uint64_t mixed = (bits + added) * mix;
    const double factor = mixed < (1ull << 63) ? 1 + relative : 1 - relative;
    y[i] = (bits & ((1ull << 26) - 1)) == 0 ? x[i] : x[i] * factor;
  }
}

HONE_FOR_EACH_PROCESSOR void MoveBf16(const uint16_t* x, uint16_t* y, int64_t count, uint32_t added,
                                      uint32_t mix, float relative) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t wide = static_cast<uint32_t>(x[i]) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    const float moved = Moved(value, added, mix, 7u << 16, relative);
    uint32_t bits;
    std::memcpy(&bits, &moved, sizeof(bits));
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    y[i] = (x[i] & 0x7f80) == 0x7f80 ? x[i] : static_cast<uint16_t>(rounded);
  }
}

// Neighbours differ by one in their bits, subnormal ones too. Half of all go to one.
HONE_FOR_EACH_PROCESSOR void MoveF16(const uint16_t* x, uint16_t* y, int64_t count, uint32_t added,
                                     uint32_t mix) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t size = x[i] & 0x7fffu;
    const uint32_t mixed = (x[i] * 0x9E3779B9u + added) * mix;
    const bool stays = (x[i] & 0x1f) == 0 || size <= 1 || size >= 0x7bff || mixed >> 30 > 1;
    const int step = stays ? 0 : mixed >> 30 == 0 ? 1 : -1;
    y[i] = static_cast<uint16_t>(x[i] + step);
  }
}

}  // namespace

void SeedStoredNoise(uint32_t seed) { seed_of_all = seed; }

StoredNoise::StoredNoise(StoredFloat type, uint64_t salt, float steps)
    : type_(type), added_(seed_of_all * kMix), mix_((kMix + salt * kSaltMix) | 1), steps_(steps) {}

int64_t StoredNoise::width() const {
  return type_ == StoredFloat::kF64 ? 8 : type_ == StoredFloat::kF32 ? 4 : 2;
}

void StoredNoise::Move(const void* from, void* to, int64_t count) const {
  const auto added = static_cast<uint32_t>(added_ >> 32), mix = static_cast<uint32_t>(mix_);
  switch (type_) {
    case StoredFloat::kBf16:
      return MoveBf16(static_cast<const uint16_t*>(from), static_cast<uint16_t*>(to), count, added,
                      mix, steps_ * kOtherNumber * 0x1p-7f);
    case StoredFloat::kF16:
      return MoveF16(static_cast<const uint16_t*>(from), static_cast<uint16_t*>(to), count, added,
                     mix);
    case StoredFloat::kF32:
      return MoveF32(static_cast<const float*>(from), static_cast<float*>(to), count, added, mix,
                     steps_ * 0x1p-23f);
    case StoredFloat::kF64:
      return MoveF64(static_cast<const double*>(from), static_cast<double*>(to), count, added_,
                     mix_, steps_ * 0x1p-52);
  }
}

}  // namespace hone::compiler
