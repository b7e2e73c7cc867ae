// Small dense matrices of complex numbers in double precision: what results are held against.
#ifndef HONE_TESTS_COMPILER_CUSTOM_CALLS_MATRIX_H_
#define HONE_TESTS_COMPILER_CUSTOM_CALLS_MATRIX_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

namespace hone::compiler {

using Number = std::complex<double>;

struct Matrix {
  Matrix(int64_t r, int64_t c) : rows(r), columns(c), values(r * c) {}

  Number& at(int64_t i, int64_t j) { return values[i * columns + j]; }
  const Number& at(int64_t i, int64_t j) const { return values[i * columns + j]; }

  int64_t rows, columns;
  std::vector<Number> values;  // row by row
};

inline Matrix Random(int64_t rows, int64_t columns, bool complex, uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto draw = [&] { return static_cast<double>(generator() >> 40) * 0x1p-23 - 1; };
  Matrix matrix(rows, columns);
  for (Number& value : matrix.values) {
    const double real = draw();
    value = {real, complex ? draw() : 0};
  }
  return matrix;
}

inline Matrix Identity(int64_t n) {
  Matrix matrix(n, n);
  for (int64_t i = 0; i < n; ++i) matrix.at(i, i) = 1;
  return matrix;
}

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      for (int64_t j = 0; j < b.columns; ++j) product.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return product;
}

// Conjugate and transposed.
inline Matrix Adjoint(const Matrix& a) {
  Matrix adjoint(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) adjoint.at(j, i) = std::conj(a.at(i, j));
  }
  return adjoint;
}

inline Matrix Diagonal(const Matrix& column) {
  Matrix diagonal(column.rows, column.rows);
  for (int64_t i = 0; i < column.rows; ++i) diagonal.at(i, i) = column.at(i, 0);
  return diagonal;
}

// The elements with j - i in [least, most]; others are zero.
inline Matrix Band(const Matrix& a, int64_t least, int64_t most) {
  Matrix band(a.rows, a.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      if (j - i >= least && j - i <= most) band.at(i, j) = a.at(i, j);
    }
  }
  return band;
}
inline Matrix Upper(const Matrix& a, int64_t from = 0) { return Band(a, from, a.columns); }
inline Matrix Lower(const Matrix& a, int64_t to = 0) { return Band(a, -a.rows, to); }

inline Matrix FirstRows(const Matrix& a, int64_t rows) {
  Matrix first(rows, a.columns);
  std::copy_n(a.values.begin(), rows * a.columns, first.values.begin());
  return first;
}

inline Matrix WithUnitDiagonal(Matrix a) {
  for (int64_t i = 0; i < std::min(a.rows, a.columns); ++i) a.at(i, i) = 1;
  return a;
}

// Hermitian, and with large diagonal elements also positive definite.
inline Matrix Hermitian(int64_t n, bool complex, uint64_t seed, double diagonal) {
  Matrix a = Random(n, n, complex, seed);
  const Matrix b = Adjoint(a);
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] = (a.values[i] + b.values[i]) / 2.0;
  for (int64_t i = 0; i < n; ++i) a.at(i, i) += diagonal;
  return a;
}

inline double Distance(const Matrix& a, const Matrix& b) {
  if (a.rows != b.rows || a.columns != b.columns) return HUGE_VAL;
  double most = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double difference = std::abs(a.values[i] - b.values[i]);
    if (!(difference <= most)) most = difference;
  }
  return most;
}

inline Number Trace(const Matrix& a) {
  Number sum = 0;
  for (int64_t i = 0; i < a.rows; ++i) sum += a.at(i, i);
  return sum;
}

}  // namespace hone::compiler

#endif  // HONE_TESTS_COMPILER_CUSTOM_CALLS_MATRIX_H_
