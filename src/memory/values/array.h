// Numbers of a box of a tensor, on the host: what tile computations compute with.
#ifndef HONE_MEMORY_VALUES_ARRAY_H_
#define HONE_MEMORY_VALUES_ARRAY_H_

#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "memory/box.h"
#include "memory/values/element_type.h"

namespace hone::memory {

// Dense and row-major over `box`, whose indices are those of the whole tensor. Only the vector that
// fits the type's kind is filled.
struct Array {
  ElementType type = ElementType::kF32;
  Box box;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<std::complex<double>> complexes;
};

Array MakeArray(ElementType type, Box box);  // of zeros

// Element `from` of one array becomes element `to` of another of the same type.
void CopyElement(const Array& source, int64_t from, Array& target, int64_t to);

// `count` of them; `from_step` and `to_step` elements lie between one and the next.
void CopyRun(const Array& source, int64_t from, int64_t from_step, Array& target, int64_t to,
             int64_t to_step, int64_t count);

// Elements of `box`, which both arrays hold, in the coordinates of the whole tensor.
void CopyBox(const Array& source, Array& target, const Box& box);

// That box of an array which holds it.
Array Cut(const Array& whole, const Box& box);

// The scalar everywhere.
void Fill(const Array& scalar, Array& result);

// The memory of a row-major array, and back.
Array Decode(std::string_view bytes, ElementType type, const std::vector<int64_t>& dimensions);
void DecodeElement(const char* bytes, Array& array, int64_t at);
void EncodeElement(const Array& array, int64_t at, char* bytes);
// `count` elements that follow upon each other in the array and lie `step` bytes apart in memory.
void DecodeRun(const char* bytes, int64_t step, int64_t count, Array& array, int64_t at);
void EncodeRun(const Array& array, int64_t at, int64_t count, char* bytes, int64_t step);

// A literal as HLO text writes it: "5", "true", "{1, 2}", "{ {1, 2}, {3, 4} }", "(1, -2)", with
// comments or without.
StatusOr<Array> ParseLiteral(std::string_view text, ElementType type,
                             const std::vector<int64_t>& dimensions);

// As a double, whatever the kind; of a complex number the real part.
double AsReal(const Array& array, int64_t at);

}  // namespace hone::memory

#endif  // HONE_MEMORY_VALUES_ARRAY_H_
