#include "verify/move_values.h"

#include <cstring>

#include "core/mix_bits.h"

namespace hone::verify {
namespace {

uint64_t Mix(uint64_t x) { return MixBits(x + kSplitMixStep); }

// Bits of a floating-point number count its neighbours.
template <class Bits>
void Move(void* data, int64_t count, int mantissa_bits, uint64_t seed) {
  const auto exact = static_cast<Bits>((uint64_t{1} << (mantissa_bits / 2 + 1)) - 1);
  const auto exponent = static_cast<Bits>(
      ((uint64_t{1} << (sizeof(Bits) * 8 - 1 - mantissa_bits)) - 1) << mantissa_bits);
  char* at = static_cast<char*>(data);
  for (int64_t i = 0; i < count; ++i, at += sizeof(Bits)) {
    Bits value;
    std::memcpy(&value, at, sizeof(Bits));
    const Bits field = value & exponent;
    // Few bits, zero or close to it, not finite.
    if ((value & exact) == 0 || field == 0 || field == exponent) continue;
    value = static_cast<Bits>(value + ((Mix(seed + static_cast<uint64_t>(i)) & 1) != 0 ? 1 : -1));
    std::memcpy(at, &value, sizeof(Bits));
  }
}

}  // namespace

void MoveByOneUnit(const ElementType& type, void* data, int64_t elements, uint64_t seed) {
  if (type.kind == NumberKind::kExact) return;
  const int64_t parts = type.kind == NumberKind::kComplex ? 2 : 1;
  const size_t width = type.bytes / static_cast<size_t>(parts);
  if (width == 8) Move<uint64_t>(data, elements * parts, type.mantissa_bits, seed);
  if (width == 4) Move<uint32_t>(data, elements * parts, type.mantissa_bits, seed);
  if (width == 2) Move<uint16_t>(data, elements * parts, type.mantissa_bits, seed);
}

void MoveNearby(const ElementType& type, void* data, int64_t elements, uint64_t seed) {
  if (type.kind == NumberKind::kExact) return;
  const int64_t parts = type.kind == NumberKind::kComplex ? 2 : 1;
  const size_t width = type.bytes / static_cast<size_t>(parts);
  char* at = static_cast<char*>(data);
  for (int64_t i = 0; i < elements * parts; ++i, at += width) {
    const double factor =
        0.99 + 0.02 * 0x1p-53 * static_cast<double>(Mix(seed + static_cast<uint64_t>(i)) >> 11);
    if (width == 8) {
      double value;
      std::memcpy(&value, at, sizeof(value));
      value *= factor;
      std::memcpy(at, &value, sizeof(value));
    } else if (width == 4 || (width == 2 && type.exponent_bits == 8)) {
      uint32_t bits = 0;  // bf16 is the upper half of a float
      std::memcpy(reinterpret_cast<char*>(&bits) + (4 - width), at, width);
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      value = static_cast<float>(value * factor);
      std::memcpy(&bits, &value, sizeof(value));
      std::memcpy(at, reinterpret_cast<const char*>(&bits) + (4 - width), width);
    }
  }
}

}  // namespace hone::verify
