#include "memory/values/element_type.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace hone::memory {
namespace {

struct Facts {
  const char* name;
  int bytes;
  int bits;
  bool is_signed;
  ValueKind kind;
};

constexpr std::array<Facts, 16> kFacts = {{
    {"pred", 1, 1, false, ValueKind::kInteger},
    {"s8", 1, 8, true, ValueKind::kInteger},
    {"s16", 2, 16, true, ValueKind::kInteger},
    {"s32", 4, 32, true, ValueKind::kInteger},
    {"s64", 8, 64, true, ValueKind::kInteger},
    {"u8", 1, 8, false, ValueKind::kInteger},
    {"u16", 2, 16, false, ValueKind::kInteger},
    {"u32", 4, 32, false, ValueKind::kInteger},
    {"u64", 8, 64, false, ValueKind::kInteger},
    {"f16", 2, 16, true, ValueKind::kReal},
    {"bf16", 2, 16, true, ValueKind::kReal},
    {"f32", 4, 32, true, ValueKind::kReal},
    {"f64", 8, 64, true, ValueKind::kReal},
    {"c64", 8, 64, true, ValueKind::kComplex},
    {"c128", 16, 128, true, ValueKind::kComplex},
    {"other", 0, 0, false, ValueKind::kNone},
}};

const Facts& Of(ElementType type) { return kFacts[static_cast<size_t>(type)]; }

float RoundToBf16(double value) {
  const float single = static_cast<float>(value);
  if (std::isnan(single)) return single;
  uint32_t bits = std::bit_cast<uint32_t>(single);
  bits += 0x7fff + ((bits >> 16) & 1);
  return std::bit_cast<float>(bits & 0xffff0000u);
}

// Round to 11 significant bits, or to multiples of 2^-24 below the normal range.
double RoundToF16(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  const double rounded = std::nearbyint(value / unit) * unit;
  return std::abs(rounded) > 65504 ? std::copysign(INFINITY, value) : rounded;
}

uint16_t F16Bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  value = std::abs(RoundToF16(value));
  if (std::isinf(value)) return sign | 0x7c00;
  if (value == 0) return sign;
  if (value < std::ldexp(1.0, -14)) return sign | static_cast<uint16_t>(std::ldexp(value, 24));
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return sign | static_cast<uint16_t>((exponent + 14) << 10) |
         static_cast<uint16_t>((fraction * 2 - 1) * 1024);
}

double F16Value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

template <class T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
void Store(T value, char* bytes) {
  std::memcpy(bytes, &value, sizeof value);
}

}  // namespace

ElementType ElementTypeNamed(std::string_view name) {
  for (size_t i = 0; i + 1 < kFacts.size(); ++i) {
    if (name == kFacts[i].name) return static_cast<ElementType>(i);
  }
  return ElementType::kOther;
}

const char* NameOf(ElementType type) { return Of(type).name; }
int64_t BytesOf(ElementType type) { return Of(type).bytes; }
int BitsOf(ElementType type) { return Of(type).bits; }
bool IsSigned(ElementType type) { return Of(type).is_signed; }
ValueKind KindOf(ElementType type) { return Of(type).kind; }

double Round(double value, ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kC64:
      return static_cast<float>(value);
    case ElementType::kBf16:
      return RoundToBf16(value);
    case ElementType::kF16:
      return RoundToF16(value);
    default:
      return value;
  }
}

void RoundAll(std::vector<double>& values, ElementType type) {
  if (type == ElementType::kF64) return;
  if (type == ElementType::kF32) {
    for (double& value : values) value = static_cast<float>(value);
    return;
  }
  for (double& value : values) value = Round(value, type);
}

int64_t Wrap(int64_t value, ElementType type) {
  const int bits = BitsOf(type);
  if (bits == 1) return value != 0;
  if (bits >= 64) return value;
  const uint64_t low = static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  if (IsSigned(type) && (low >> (bits - 1))) {
    return static_cast<int64_t>(low | ~((uint64_t{1} << bits) - 1));
  }
  return static_cast<int64_t>(low);
}

double DecodeReal(const char* bytes, ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return F16Value(Load<uint16_t>(bytes));
    case ElementType::kBf16:
      return std::bit_cast<float>(static_cast<uint32_t>(Load<uint16_t>(bytes)) << 16);
    case ElementType::kF64:
      return Load<double>(bytes);
    default:
      return Load<float>(bytes);
  }
}

void EncodeReal(double value, ElementType type, char* bytes) {
  switch (type) {
    case ElementType::kF16:
      return Store(F16Bits(value), bytes);
    case ElementType::kBf16: {
      const uint32_t bits = std::bit_cast<uint32_t>(RoundToBf16(value));
      return Store(static_cast<uint16_t>(std::isnan(value) ? 0x7fc0 : bits >> 16), bytes);
    }
    case ElementType::kF64:
      return Store(value, bytes);
    default:
      return Store(static_cast<float>(value), bytes);
  }
}

int64_t DecodeInteger(const char* bytes, ElementType type) {
  uint64_t raw = 0;
  std::memcpy(&raw, bytes, static_cast<size_t>(BytesOf(type)));
  return Wrap(static_cast<int64_t>(raw), type);
}

void EncodeInteger(int64_t value, ElementType type, char* bytes) {
  std::memcpy(bytes, &value, static_cast<size_t>(BytesOf(type)));
}

}  // namespace hone::memory
