// Element types of arrays that are compared, by XLA's names, and their values.
#ifndef HONE_VERIFY_ELEMENT_TYPES_H_
#define HONE_VERIFY_ELEMENT_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hone::verify {

enum class NumberKind : uint8_t { kExact, kReal, kComplex };

// How a real number (or a part of a complex one) is stored: IEEE 754's scheme.
struct ElementType {
  std::string_view name;  // XLA's, in lower case
  size_t bytes;           // of an element
  NumberKind kind;
  int exponent_bits;
  int mantissa_bits;
};

// Those of whole bytes whose values hone can read.
const std::vector<ElementType>& ElementTypes();
// Null where there is none of that name.
const ElementType* FindElementType(std::string_view name);

// The real components of `count` of them, starting at `first`: of complex elements, real and
// imaginary parts in turn. Integers of 64 bits are rounded.
std::vector<double> Values(const ElementType& type, const void* bytes, size_t first, size_t count);
// The same, into a place with room for them.
void ReadValues(const ElementType& type, const void* bytes, size_t first, size_t count, double* to);
// Puts real values into `count` elements, each to the nearest; integers are whole and within the
// type's range. Not for complex types.
void WriteValues(const ElementType& type, const double* values, size_t count, void* to);
// One exact element.
int64_t ReadInteger(const ElementType& type, const void* from);
// The spacing of numbers relative to their size: 2^-23 of f32.
double RelativeSpacing(const ElementType& type);
// Differences of this size mean nothing: numbers below the smallest normal one may be flushed to
// zero, in each of several operations.
double Negligible(const ElementType& type);

}  // namespace hone::verify

#endif  // HONE_VERIFY_ELEMENT_TYPES_H_
