// LAPACK's calling convention, for the four element types that its names begin with.
#ifndef HONE_COMPILER_CUSTOM_CALLS_FORTRAN_H_
#define HONE_COMPILER_CUSTOM_CALLS_FORTRAN_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/custom_calls/lapack_library.h"

namespace hone::compiler {

template <class T>
struct Element;
template <>
struct Element<float> {
  using Real = float;
  static constexpr char kLetter = 's';
  static constexpr bool kComplex = false;
};
template <>
struct Element<double> {
  using Real = double;
  static constexpr char kLetter = 'd';
  static constexpr bool kComplex = false;
};
template <>
struct Element<std::complex<float>> {
  using Real = float;
  static constexpr char kLetter = 'c';
  static constexpr bool kComplex = true;
};
template <>
struct Element<std::complex<double>> {
  using Real = double;
  static constexpr char kLetter = 'z';
  static constexpr bool kComplex = true;
};
template <class T>
using RealOf = typename Element<T>::Real;

// The routine of T's: ("potrf") is dpotrf_ for double. Some have other names for complex elements.
template <class T>
void* Routine(const std::string& real_name, const std::string& complex_name) {
  return LapackFunction(Element<T>::kLetter + (Element<T>::kComplex ? complex_name : real_name) +
                        "_");
}
template <class T>
void* Routine(const std::string& name) {
  return Routine<T>(name, name);
}

// Everything goes by address, but for the hidden length of each letter, which follow at the end.
constexpr size_t kOneLetter = 1;
template <class... Arguments>
void CallFortran(void* routine, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(routine)(arguments...);
}

// LAPACK wants leading dimensions of 1 even where there is nothing.
inline int32_t Leading(int64_t rows) { return static_cast<int32_t>(std::max<int64_t>(rows, 1)); }

// What a routine asked for as workspace, as a floating-point number, which may have been rounded
// down.
template <class T>
int32_t WorkSize(T asked, int64_t least = 1) {
  const double size = static_cast<double>(std::real(asked)) * (1 + 0x1p-22) + 1;
  return static_cast<int32_t>(std::min(std::max(size, static_cast<double>(least)), 2147483647.0));
}

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_FORTRAN_H_
