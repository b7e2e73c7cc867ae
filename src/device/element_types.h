// Element types as they go to a device and come back from it, by XLA's names.
#ifndef HONE_DEVICE_ELEMENT_TYPES_H_
#define HONE_DEVICE_ELEMENT_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hone::device {

enum class NumberKind : uint8_t { kExact, kReal, kComplex };

// How a real number (or a part of a complex one) is stored: IEEE 754's scheme.
struct ElementType {
  std::string_view name;  // XLA's, in lower case
  int pjrt;               // PJRT_Buffer_Type's number
  size_t bytes;           // of an element
  NumberKind kind;
  int exponent_bits;
  int mantissa_bits;
};

// Those of whole bytes whose values hone can read.
const std::vector<ElementType>& ElementTypes();
// Null where there is none of that name or number.
const ElementType* FindElementType(std::string_view name);
const ElementType* FindElementType(int pjrt);

// The real components of `count` of them, starting at `first`: of complex elements, real and
// imaginary parts in turn. Not for exact types.
std::vector<double> Values(const ElementType& type, const void* bytes, size_t first, size_t count);
// The spacing of numbers relative to their size: 2^-23 of f32.
double RelativeSpacing(const ElementType& type);
// Differences of this size mean nothing: numbers below may be flushed to zero.
double Negligible(const ElementType& type);

}  // namespace hone::device

#endif  // HONE_DEVICE_ELEMENT_TYPES_H_
