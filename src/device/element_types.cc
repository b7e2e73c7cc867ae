#include "device/element_types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace hone::device {
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

template <class T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

}  // namespace

const std::vector<ElementType>& ElementTypes() {
  using Kind = NumberKind;
  // The numbers are PJRT_Buffer_Type's (xla/pjrt/c/pjrt_c_api.h); plugin/client.cc checks them.
  static const std::vector<ElementType> types = {
      {"pred", 1, 1, Kind::kExact, 0, 0},       {"s8", 2, 1, Kind::kExact, 0, 0},
      {"s16", 3, 2, Kind::kExact, 0, 0},        {"s32", 4, 4, Kind::kExact, 0, 0},
      {"s64", 5, 8, Kind::kExact, 0, 0},        {"u8", 6, 1, Kind::kExact, 0, 0},
      {"u16", 7, 2, Kind::kExact, 0, 0},        {"u32", 8, 4, Kind::kExact, 0, 0},
      {"u64", 9, 8, Kind::kExact, 0, 0},        {"f16", 10, 2, Kind::kReal, 5, 10},
      {"f32", 11, 4, Kind::kReal, 8, 23},       {"f64", 12, 8, Kind::kReal, 11, 52},
      {"bf16", 13, 2, Kind::kReal, 8, 7},       {"c64", 14, 8, Kind::kComplex, 8, 23},
      {"c128", 15, 16, Kind::kComplex, 11, 52}, {"f8e5m2", 16, 1, Kind::kReal, 5, 2},
  };
  return types;
}

const ElementType* FindElementType(std::string_view name) {
  for (const ElementType& type : ElementTypes()) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

const ElementType* FindElementType(int pjrt) {
  for (const ElementType& type : ElementTypes()) {
    if (type.pjrt == pjrt) return &type;
  }
  return nullptr;
}

std::vector<double> Values(const ElementType& type, const void* bytes, size_t first, size_t count) {
  const size_t parts = type.kind == NumberKind::kComplex ? 2 : 1;
  const size_t width = type.bytes / parts;
  const char* from = static_cast<const char*>(bytes) + first * type.bytes;
  std::vector<double> values(count * parts);
  for (double& value : values) {
    value = width == 8   ? Load<double>(from)
            : width == 4 ? static_cast<double>(Load<float>(from))
            : width == 2 ? Small(Load<uint16_t>(from), type)
                         : Small(Load<uint8_t>(from), type);
    from += width;
  }
  return values;
}

double RelativeSpacing(const ElementType& type) { return std::ldexp(1.0, -type.mantissa_bits); }

double Negligible(const ElementType& type) {
  if (type.exponent_bits == 11) return std::numeric_limits<double>::min();
  return type.exponent_bits == 5 ? 0x1.0p-24 : std::numeric_limits<float>::min();
}

}  // namespace hone::device
