#include "compiler/custom_calls/sparse.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "compiler/custom_calls/call.h"
#include "compiler/custom_calls/fortran.h"

namespace hone::compiler {
namespace {

using xla::ffi::AnyBuffer;
using xla::ffi::DataType;
using xla::ffi::Error;

// One system with several right-hand sides, which are taken by columns.
template <class T>
class PerturbedTridiagonal {
 public:
  using Real = RealOf<T>;

  PerturbedTridiagonal(const T* lower, const T* middle, const T* upper, int64_t n, T* x,
                       int64_t columns)
      : n_(n), columns_(columns), x_(x), u_(n), above_(n), beyond_(n) {
    u_[0] = middle[0];
    if (n > 1) above_[0] = upper[0];
    Real size = std::abs(u_[0]) + std::abs(above_[0]);
    for (int64_t k = 0; k + 1 < n; ++k) {
      const T below = lower[k + 1];
      const T after = k + 2 < n ? upper[k + 1] : T{};
      const Real next_size = std::abs(below) + std::abs(middle[k + 1]) + std::abs(after);
      u_[k + 1] = middle[k + 1];
      above_[k + 1] = after;
      if (below == T{}) {
        size = next_size;
      } else if (std::abs(below) * size <= std::abs(u_[k]) * next_size) {
        const T factor = below / u_[k];
        u_[k + 1] -= factor * above_[k];
        for (int64_t c = 0; c < columns; ++c) At(k + 1, c) -= factor * At(k, c);
        size = next_size;
      } else {
        const T factor = u_[k] / below;
        const T moved = above_[k];
        u_[k] = below;
        above_[k] = middle[k + 1];
        beyond_[k] = after;
        u_[k + 1] = moved - factor * middle[k + 1];
        above_[k + 1] = -factor * after;
        for (int64_t c = 0; c < columns; ++c) {
          const T first = At(k, c);
          At(k, c) = At(k + 1, c);
          At(k + 1, c) = first - factor * At(k, c);
        }
        size = std::abs(u_[k + 1]) + std::abs(above_[k + 1]);
      }
    }
  }

  void Solve() {
    Real most = 0;
    for (int64_t k = 0; k < n_; ++k) {
      most = std::max({most, std::abs(u_[k]), std::abs(above_[k]), std::abs(beyond_[k])});
    }
    const Real step = std::numeric_limits<Real>::epsilon() * most;
    for (int64_t k = n_ - 1; k >= 0; --k) {
      Real right = 0;
      for (int64_t c = 0; c < columns_; ++c) {
        if (k + 1 < n_) At(k, c) -= above_[k] * At(k + 1, c);
        if (k + 2 < n_) At(k, c) -= beyond_[k] * At(k + 2, c);
        right = std::max(right, std::abs(At(k, c)));
      }
      const T inverse = T{1} / Pivot(u_[k], step, right);
      for (int64_t c = 0; c < columns_; ++c) At(k, c) *= inverse;
    }
  }

 private:
  T& At(int64_t row, int64_t column) { return x_[column * n_ + row]; }

  // A pivot by which `right` can be divided without overflow.
  static T Pivot(T pivot, Real step, Real right) {
    constexpr Real kSmallest = std::numeric_limits<Real>::min();
    step = std::copysign(std::max(step, kSmallest), std::real(pivot));
    while (std::abs(pivot) < 1 &&
           (std::abs(pivot) < kSmallest || right * kSmallest > std::abs(pivot))) {
      pivot += step;
      step *= 2;
    }
    return pivot;
  }

  int64_t n_, columns_;
  T* x_;
  std::vector<T> u_, above_, beyond_;  // the upper triangular factor's three diagonals
};

template <class T>
void SolveAll(Call& call) {
  const auto b = call.Operand<T>(3);
  const auto lower = call.VectorOperand<T>(0, b.rows);
  const auto middle = call.VectorOperand<T>(1, b.rows);
  const auto upper = call.VectorOperand<T>(2, b.rows);
  const auto x = call.Result<T>(0, b.rows, b.columns);
  if (!call.ok() || b.rows == 0) return;
  Call::Copy(b, x);
  for (int64_t k = 0; k < b.batch; ++k) {
    PerturbedTridiagonal<T>(lower.at(k), middle.at(k), upper.at(k), b.rows, x.at(k), b.columns)
        .Solve();
  }
}

// Sparse matrices come with indices from outside: what points nowhere is left out.
template <class T, class Index>
Error Multiply(const AnyBuffer& values, const AnyBuffer& starts, const AnyBuffer& columns,
               const AnyBuffer& dense, const AnyBuffer& out) {
  const int64_t rows = out.dimensions()[0], inner = dense.dimensions()[0];
  const int64_t width = dense.dimensions().size() > 1 ? dense.dimensions()[1] : 1;
  const int64_t stored = static_cast<int64_t>(values.element_count());
  const bool fits = starts.element_count() == static_cast<size_t>(rows + 1) &&
                    columns.element_count() == values.element_count() &&
                    out.element_count() == static_cast<size_t>(rows * width);
  if (!fits) return Error::InvalidArgument("the sparse matrix's shapes do not fit");
  const T* value = static_cast<const T*>(values.untyped_data());
  const Index* start = static_cast<const Index*>(starts.untyped_data());
  const Index* column = static_cast<const Index*>(columns.untyped_data());
  const T* from = static_cast<const T*>(dense.untyped_data());
  T* to = static_cast<T*>(out.untyped_data());
  for (int64_t row = 0; row < rows; ++row, to += width) {
    std::fill_n(to, width, T{});
    const int64_t begin = std::max<int64_t>(start[row], 0);
    const int64_t end = std::min<int64_t>(start[row + 1], stored);
    for (int64_t k = begin; k < end; ++k) {
      if (column[k] < 0 || column[k] >= inner) continue;
      for (int64_t c = 0; c < width; ++c) to[c] += value[k] * from[column[k] * width + c];
    }
  }
  return Error::Success();
}

}  // namespace

Error SolvePerturbedTridiagonal(const xla::ffi::RemainingArgs& operands,
                                const xla::ffi::RemainingRets& results,
                                const xla::ffi::Dictionary& attributes) {
  Call call(operands, results, attributes);
  const auto middle = operands.get<AnyBuffer>(1);
  if (!middle.has_value()) return middle.error();
  switch (middle->element_type()) {
    case DataType::F32:
      SolveAll<float>(call);
      break;
    case DataType::F64:
      SolveAll<double>(call);
      break;
    case DataType::C64:
      SolveAll<std::complex<float>>(call);
      break;
    case DataType::C128:
      SolveAll<std::complex<double>>(call);
      break;
    default:
      return Error::InvalidArgument("the diagonals are neither floats nor complex numbers");
  }
  return call.error();
}

Error MultiplyCompressedRows(const xla::ffi::RemainingArgs& operands,
                             const xla::ffi::RemainingRets& results, const xla::ffi::Dictionary&) {
  const auto values = operands.get<AnyBuffer>(0), starts = operands.get<AnyBuffer>(1);
  const auto columns = operands.get<AnyBuffer>(2), dense = operands.get<AnyBuffer>(3);
  auto found = results.get<AnyBuffer>(0);
  for (const auto* operand : {&values, &starts, &columns, &dense}) {
    if (!operand->has_value()) return operand->error();
  }
  if (!found.has_value()) return found.error();
  const AnyBuffer out = **found;
  const DataType type = values->element_type(), index = starts->element_type();
  if (dense->element_type() != type || out.element_type() != type ||
      columns->element_type() != index || dense->dimensions().size() == 0 ||
      out.dimensions().size() == 0) {
    return Error::InvalidArgument("the sparse matrix's element types or ranks do not fit");
  }
  const auto by_index = [&](auto element) {
    using T = decltype(element);
    if (index == DataType::S32)
      return Multiply<T, int32_t>(*values, *starts, *columns, *dense, out);
    if (index == DataType::S64)
      return Multiply<T, int64_t>(*values, *starts, *columns, *dense, out);
    return Error::InvalidArgument("the sparse matrix's indices are neither s32 nor s64");
  };
  switch (type) {
    case DataType::S32:
      return by_index(int32_t{});
    case DataType::S64:
      return by_index(int64_t{});
    case DataType::F32:
      return by_index(float{});
    case DataType::F64:
      return by_index(double{});
    case DataType::C64:
      return by_index(std::complex<float>{});
    case DataType::C128:
      return by_index(std::complex<double>{});
    default:
      return Error::InvalidArgument("the sparse matrix's element type is none that JAX multiplies");
  }
}

}  // namespace hone::compiler
