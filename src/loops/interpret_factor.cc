#include "loops/interpret_factor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace hone::loops {
namespace {

using Round = std::function<double(double)>;

class Matrix {
 public:
  Matrix(double* at, int64_t columns) : at_(at), columns_(columns) {}
  double& operator()(int64_t i, int64_t j) const { return at_[i * columns_ + j]; }

 private:
  double* const at_;
  const int64_t columns_;
};

void Lu(const Matrix& a, int64_t n, const Round& round) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    }
    for (int64_t j = 0; j < n && pivot != k; ++j) std::swap(a(k, j), a(pivot, j));
    a(n, k) = static_cast<double>(pivot + 1) * (a(k, k) == 0 ? -1 : 1);
    for (int64_t i = k + 1; i < n; ++i) {
      if (a(k, k) != 0) a(i, k) = round(a(i, k) / a(k, k));
      for (int64_t j = k + 1; j < n; ++j) a(i, j) = round(a(i, j) - a(i, k) * a(k, j));
    }
  }
}

void Cholesky(const Matrix& a, int64_t n, const Round& round) {
  for (int64_t k = 0; k < n; ++k) {
    a(n, k) = a(k, k) > 0 ? 1 : 0;
    a(k, k) = round(std::sqrt(a(k, k)));
    for (int64_t i = k + 1; i < n; ++i) {
      a(i, k) = round(a(i, k) / a(k, k));
      a(k, i) = 0;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      for (int64_t j = k + 1; j <= i; ++j) a(i, j) = round(a(i, j) - a(i, k) * a(j, k));
    }
  }
}

void Solve(const Operation& op, const FactorInputs& inputs, const Matrix& x, const Round& round) {
  const auto flag = [&](const char* name) { return op.Get(name, 1, 0)[0] != 0; };
  const bool transposed = flag("transposed"), forward = flag("lower") != transposed;
  const int64_t n = inputs.n;
  const auto a = [&](int64_t i, int64_t j) {
    return inputs.matrix[transposed ? j * n + i : i * n + j];
  };
  for (int64_t step = 0; step < n; ++step) {
    const int64_t k = forward ? step : n - 1 - step;
    for (int64_t c = 0; c < inputs.columns; ++c) {
      if (!flag("unit")) x(k, c) = round(x(k, c) / a(k, k));
      for (int64_t i = forward ? k + 1 : 0; i < (forward ? n : k); ++i) {
        x(i, c) = round(x(i, c) - a(i, k) * x(k, c));
      }
    }
  }
}

}  // namespace

Values InterpretFactor(const Operation& op, const FactorInputs& inputs, const Round& round) {
  const int64_t n = inputs.n;
  if (op.kind == "solve") {
    Values result(inputs.right, inputs.right + n * inputs.columns);
    Solve(op, inputs, Matrix(result.data(), inputs.columns), round);
    return result;
  }
  if (op.kind == "exchanges") {
    Values result(static_cast<size_t>(n));
    std::iota(result.begin(), result.end(), 0);
    for (int64_t k = 0; k < n; ++k) {
      const double x = result[static_cast<size_t>(k)], pivot = inputs.matrix[k];
      const auto nearest = std::clamp(pivot, 0.0, static_cast<double>(n - 1));
      result[static_cast<size_t>(k)] = result[static_cast<size_t>(nearest)];
      if (pivot == nearest) result[static_cast<size_t>(pivot)] = x;
    }
    return result;
  }
  Values result(inputs.matrix, inputs.matrix + n * n);
  result.resize(static_cast<size_t>(n * (n + 1)));
  const Matrix made(result.data(), n);
  op.kind == "lu" ? Lu(made, n, round) : Cholesky(made, n, round);
  return result;
}

}  // namespace hone::loops
