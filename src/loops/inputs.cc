#include "loops/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "core/rng.h"
#include "verify/compare_output.h"

namespace hone::loops {
namespace {

double Value(Rng& rng, int kind) {
  const double unit = rng.Unit();
  switch (kind) {
    case 1:
      return unit;
    case 2: {
      const double size = std::exp2(-static_cast<double>(rng.Below(8)));
      return (2 * unit - 1) * size;
    }
    default:
      return 2 * unit - 1;
  }
}

}  // namespace

// The upper half of a float, to the nearest.
uint16_t BF16Bits(double value) {
  if (std::isnan(value)) return 0x7fc0;
  const auto narrow = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

uint16_t F16Bits(double value) {
  if (std::isnan(value)) return 0x7e00;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (size == 0) return sign;
  if (size >= 65520) return sign + 0x7c00;
  int exponent = 0;
  std::frexp(size, &exponent);
  const int unit = std::max(exponent - 1, -14) - 10;  // in this power of 2
  const auto units = static_cast<uint16_t>(std::lrint(std::ldexp(size, -unit)));
  return static_cast<uint16_t>(sign + ((unit + 24) << 10) + units);
}

void FillInput(Element element, int64_t elements, int kind, uint64_t seed, uint64_t moved,
               void* to) {
  Rng rng(seed * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(kind));
  for (int64_t i = 0; i < elements; ++i) {
    switch (element) {
      case Element::kF32:
        static_cast<float*>(to)[i] = static_cast<float>(Value(rng, kind));
        break;
      case Element::kF64:
        static_cast<double*>(to)[i] = Value(rng, kind);
        break;
      case Element::kI32:
        static_cast<int32_t*>(to)[i] = static_cast<int32_t>(rng.Below(17)) - 8;
        break;
      case Element::kBF16:
        static_cast<uint16_t*>(to)[i] = BF16Bits(Value(rng, kind));
        break;
      case Element::kF16:
        static_cast<uint16_t*>(to)[i] = F16Bits(Value(rng, kind));
        break;
      case Element::kPred:
        static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(rng.Below(2));
        break;
      case Element::kU8:
        static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(rng.Below(256));
        break;
      case Element::kI8:
        static_cast<int8_t*>(to)[i] = static_cast<int8_t>(static_cast<int>(rng.Below(255)) - 127);
        break;
    }
  }
  if (moved == 0) return;
  const verify::ElementType* const type = verify::FindElementType(InfoOf(element).name);
  HONE_CHECK(type != nullptr);
  verify::MoveByOneUnit(*type, to, elements, seed * 1000003 + moved);
}

}  // namespace hone::loops
