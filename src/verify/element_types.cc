#include "verify/element_types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace hone::verify {
namespace {

// A stored number of at most 16 bits.
double Small(uint32_t bits, const ElementType& type) {
  const int mantissa_bits = type.mantissa_bits;
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const int most = (1 << type.exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & most;
  const double sign = (bits >> (mantissa_bits + type.exponent_bits)) != 0 ? -1 : 1;
  const int bias = most / 2;
  if (exponent == most) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1u << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

// The nearest of a type of at most 16 bits.
uint32_t NearestSmall(double value, const ElementType& type) {
  const int bias = (1 << (type.exponent_bits - 1)) - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (type.mantissa_bits + type.exponent_bits) : 0;
  if (value == 0) return sign;
  const auto largest = static_cast<uint32_t>((1 << type.exponent_bits) - 1) << type.mantissa_bits;
  if (std::isnan(value)) return largest + (1u << (type.mantissa_bits - 1));
  if (std::fabs(value) >= std::ldexp(2 - std::ldexp(1, -type.mantissa_bits - 1), bias)) {
    return sign + largest;  // infinite
  }
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);
  const auto units = static_cast<uint32_t>(
      std::lrint(std::ldexp(std::fabs(value), type.mantissa_bits - exponent)));
  // A normal number's first bit, and what rounding carries, count the exponent up.
  return sign + (static_cast<uint32_t>(exponent - 1 + bias) << type.mantissa_bits) + units;
}

uint16_t UpperHalf(float value) {
  if (std::isnan(value)) return 0x7fc0;
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
void Store(T value, char* to) {
  std::memcpy(to, &value, sizeof(T));
}

template <class T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

}  // namespace

const std::vector<ElementType>& ElementTypes() {
  using Kind = NumberKind;
  static const std::vector<ElementType> types = {
      {"pred", 1, Kind::kExact, 0, 0},      {"s8", 1, Kind::kExact, 0, 0},
      {"s16", 2, Kind::kExact, 0, 0},       {"s32", 4, Kind::kExact, 0, 0},
      {"s64", 8, Kind::kExact, 0, 0},       {"u8", 1, Kind::kExact, 0, 0},
      {"u16", 2, Kind::kExact, 0, 0},       {"u32", 4, Kind::kExact, 0, 0},
      {"u64", 8, Kind::kExact, 0, 0},       {"f16", 2, Kind::kReal, 5, 10},
      {"f32", 4, Kind::kReal, 8, 23},       {"f64", 8, Kind::kReal, 11, 52},
      {"bf16", 2, Kind::kReal, 8, 7},       {"c64", 8, Kind::kComplex, 8, 23},
      {"c128", 16, Kind::kComplex, 11, 52}, {"f8e5m2", 1, Kind::kReal, 5, 2},
  };
  return types;
}

const ElementType* FindElementType(std::string_view name) {
  for (const ElementType& type : ElementTypes()) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

void ReadValues(const ElementType& type, const void* bytes, size_t first, size_t count,
                double* to) {
  const size_t parts = type.kind == NumberKind::kComplex ? 2 : 1;
  const size_t width = type.bytes / parts;
  const char* const from = static_cast<const char*>(bytes) + first * type.bytes;
  count *= parts;
  if (type.kind == NumberKind::kExact) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = static_cast<double>(ReadInteger(type, from + i * width));
    }
  } else if (width == 8) {
    std::memcpy(to, from, count * sizeof(double));
  } else if (width == 4) {
    for (size_t i = 0; i < count; ++i) to[i] = Load<float>(from + 4 * i);
  } else if (width == 2 && type.exponent_bits == 8) {  // bf16: the upper half of a float
    for (size_t i = 0; i < count; ++i) {
      const uint32_t bits = uint32_t{Load<uint16_t>(from + 2 * i)} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      to[i] = value;
    }
  } else if (width == 2) {
    for (size_t i = 0; i < count; ++i) to[i] = Small(Load<uint16_t>(from + 2 * i), type);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = Small(Load<uint8_t>(from + i), type);
  }
}

std::vector<double> Values(const ElementType& type, const void* bytes, size_t first, size_t count) {
  std::vector<double> values(count * (type.kind == NumberKind::kComplex ? 2 : 1));
  ReadValues(type, bytes, first, count, values.data());
  return values;
}

void WriteValues(const ElementType& type, const double* values, size_t count, void* to) {
  char* at = static_cast<char*>(to);
  for (size_t i = 0; i < count; ++i, at += type.bytes) {
    if (type.kind == NumberKind::kExact) {  // little-endian: the low bytes
      const auto whole = static_cast<int64_t>(values[i]);
      std::memcpy(at, &whole, type.bytes);
    } else if (type.bytes == 8) {
      Store(values[i], at);
    } else if (type.bytes == 4) {
      Store(static_cast<float>(values[i]), at);
    } else if (type.bytes == 2 && type.exponent_bits == 8) {
      Store(UpperHalf(static_cast<float>(values[i])), at);
    } else if (type.bytes == 2) {
      Store(static_cast<uint16_t>(NearestSmall(values[i], type)), at);
    } else {
      Store(static_cast<uint8_t>(NearestSmall(values[i], type)), at);
    }
  }
}

int64_t ReadInteger(const ElementType& type, const void* from) {
  int64_t value = 0;
  std::memcpy(&value, from, type.bytes);
  const int unused = static_cast<int>(64 - 8 * type.bytes);
  // Little-endian: the low bytes. Signed types carry their sign up.
  return type.name.front() == 's'
             ? static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused
             : value;
}

double RelativeSpacing(const ElementType& type) { return std::ldexp(1.0, -type.mantissa_bits); }

double Negligible(const ElementType& type) {
  // What is below the smallest normal number may be zero, in each of many operations.
  constexpr double kOperations = 64;
  if (type.exponent_bits == 11) return kOperations * std::numeric_limits<double>::min();
  return type.exponent_bits == 5 ? 0x1.0p-24 : kOperations * std::numeric_limits<float>::min();
}

}  // namespace hone::verify
