// XLA's element types: their sizes, and their values as numbers.
#ifndef HONE_MEMORY_VALUES_ELEMENT_TYPE_H_
#define HONE_MEMORY_VALUES_ELEMENT_TYPE_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace hone::memory {

enum class ElementType : uint8_t {
  kPred,
  kS8,
  kS16,
  kS32,
  kS64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBf16,
  kF32,
  kF64,
  kC64,
  kC128,
  kOther,
};

// How values are computed with: integers modulo 2^bits, reals and complex numbers in double
// precision, rounded to the type after every operation.
enum class ValueKind : uint8_t { kInteger, kReal, kComplex, kNone };

// By XLA's lower-case name. kOther for types without arithmetic here (8-bit floats, 4-bit
// integers).
ElementType ElementTypeNamed(std::string_view name);
const char* NameOf(ElementType type);
int64_t BytesOf(ElementType type);  // 0 for kOther
int BitsOf(ElementType type);
bool IsSigned(ElementType type);
ValueKind KindOf(ElementType type);

// The nearest value of the type, ties to even.
double Round(double value, ElementType type);
void RoundAll(std::vector<double>& values, ElementType type);
// Modulo 2^bits; a predicate is 0 or 1.
int64_t Wrap(int64_t value, ElementType type);

// One value in memory.
double DecodeReal(const char* bytes, ElementType type);
void EncodeReal(double value, ElementType type, char* bytes);
int64_t DecodeInteger(const char* bytes, ElementType type);
void EncodeInteger(int64_t value, ElementType type, char* bytes);

}  // namespace hone::memory

#endif  // HONE_MEMORY_VALUES_ELEMENT_TYPE_H_
