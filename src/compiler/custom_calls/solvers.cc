#include "compiler/custom_calls/solvers.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "compiler/custom_calls/fortran.h"

namespace hone::compiler {

template <class T>
void Trsm(Call& call) {
  const auto b = call.Operand<T>(1);
  char side = call.Letter("side", "LR");
  char uplo = call.Letter("uplo", "LU");
  char transpose = call.Letter("trans_x", "NTC");
  char diagonal = call.Letter("diag", "NU");
  const int64_t order = side == 'L' ? b.rows : b.columns;
  const auto a = call.Operand<T>(0, order, order);
  const auto x = call.Result<T>(0, b.rows, b.columns);
  if (!call.ok()) return;
  Call::Copy(b, x);
  void* const trsm = Routine<T>("trsm");
  int32_t m = static_cast<int32_t>(b.rows), n = static_cast<int32_t>(b.columns);
  int32_t lda = Leading(order), ldb = Leading(b.rows);
  T one = 1;
  for (int64_t k = 0; k < x.batch; ++k) {
    CallFortran(trsm, &side, &uplo, &transpose, &diagonal, &m, &n, &one, a.at(k), &lda, x.at(k),
                &ldb, kOneLetter, kOneLetter, kOneLetter, kOneLetter);
  }
}

template <class T>
void Getrf(Call& call) {
  const auto a = call.Operand<T>(0);
  const auto factors = call.Result<T>(0, a.rows, a.columns);
  const auto pivots = call.VectorResult<int32_t>(1, std::min(a.rows, a.columns));
  const auto info = call.IntegerResult(2);
  if (!call.ok()) return;
  Call::Copy(a, factors);
  void* const getrf = Routine<T>("getrf");
  int32_t m = static_cast<int32_t>(a.rows), n = static_cast<int32_t>(a.columns), lda = Leading(m);
  for (int64_t k = 0; k < a.batch; ++k) {
    CallFortran(getrf, &m, &n, factors.at(k), &lda, pivots.at(k), info.at(k));
  }
}

template <class T>
void Geqrf(Call& call) {
  const auto a = call.Operand<T>(0);
  const auto factors = call.Result<T>(0, a.rows, a.columns);
  const auto tau = call.VectorResult<T>(1, std::min(a.rows, a.columns));
  if (!call.ok()) return;
  Call::Copy(a, factors);
  void* const geqrf = Routine<T>("geqrf");
  int32_t m = static_cast<int32_t>(a.rows), n = static_cast<int32_t>(a.columns), lda = Leading(m);
  int32_t info = 0, ask = -1;
  T asked{};
  CallFortran(geqrf, &m, &n, factors.data, &lda, tau.data, &asked, &ask, &info);
  int32_t size = WorkSize(asked, n);
  std::vector<T> work(size);
  for (int64_t k = 0; k < a.batch; ++k) {
    CallFortran(geqrf, &m, &n, factors.at(k), &lda, tau.at(k), work.data(), &size, &info);
  }
}

template <class T>
void Geqp3(Call& call) {
  const auto a = call.Operand<T>(0);
  const auto given = call.VectorOperand<int32_t>(1, a.columns);
  const auto factors = call.Result<T>(0, a.rows, a.columns);
  const auto pivots = call.VectorResult<int32_t>(1, a.columns);
  const auto tau = call.VectorResult<T>(2, std::min(a.rows, a.columns));
  if (!call.ok()) return;
  Call::Copy(a, factors);
  Call::Copy(given, pivots);
  void* const geqp3 = Routine<T>("geqp3");
  int32_t m = static_cast<int32_t>(a.rows), n = static_cast<int32_t>(a.columns), lda = Leading(m);
  int32_t info = 0;
  std::vector<RealOf<T>> real_work(2 * a.columns + 1);
  const auto run = [&](int64_t k, T* work, int32_t* size) {
    if constexpr (Element<T>::kComplex) {
      CallFortran(geqp3, &m, &n, factors.at(k), &lda, pivots.at(k), tau.at(k), work, size,
                  real_work.data(), &info);
    } else {
      CallFortran(geqp3, &m, &n, factors.at(k), &lda, pivots.at(k), tau.at(k), work, size, &info);
    }
  };
  T asked{};
  int32_t ask = -1;
  run(0, &asked, &ask);
  int32_t size = WorkSize(asked, 3 * a.columns + 1);
  std::vector<T> work(size);
  for (int64_t k = 0; k < a.batch; ++k) run(k, work.data(), &size);
}

template <class T>
void Orgqr(Call& call) {
  const auto reflectors = call.Operand<T>(0);
  const auto tau = call.VectorOperand<T>(1);
  const auto q = call.Result<T>(0, reflectors.rows, reflectors.columns);
  call.Require(q.rows >= q.columns && q.columns >= tau.rows,
               "Q has more columns than rows, or more reflectors than columns");
  if (!call.ok()) return;
  Call::Copy(reflectors, q);
  void* const orgqr = Routine<T>("orgqr", "ungqr");
  int32_t m = static_cast<int32_t>(q.rows), n = static_cast<int32_t>(q.columns), lda = Leading(m);
  int32_t k = static_cast<int32_t>(tau.rows), info = 0, ask = -1;
  T asked{};
  CallFortran(orgqr, &m, &n, &k, q.data, &lda, tau.data, &asked, &ask, &info);
  int32_t size = WorkSize(asked, n);
  std::vector<T> work(size);
  for (int64_t i = 0; i < q.batch; ++i) {
    CallFortran(orgqr, &m, &n, &k, q.at(i), &lda, tau.at(i), work.data(), &size, &info);
  }
}

template <class T>
void Ormqr(Call& call) {
  const auto c = call.Operand<T>(2);
  char side = call.Attribute<bool>("left") ? 'L' : 'R';
  char transpose = !call.Attribute<bool>("transpose") ? 'N' : Element<T>::kComplex ? 'C' : 'T';
  const int64_t order = side == 'L' ? c.rows : c.columns;
  const auto reflectors = call.Operand<T>(0, order);
  const auto tau = call.VectorOperand<T>(1);
  const auto product = call.Result<T>(0, c.rows, c.columns);
  call.Require(tau.rows <= reflectors.columns && tau.rows <= order,
               "more factors tau than reflectors");
  if (!call.ok()) return;
  Call::Copy(c, product);
  void* const ormqr = Routine<T>("ormqr", "unmqr");
  int32_t m = static_cast<int32_t>(c.rows), n = static_cast<int32_t>(c.columns);
  int32_t k = static_cast<int32_t>(tau.rows), lda = Leading(order), ldc = Leading(m);
  int32_t info = 0, ask = -1;
  const auto run = [&](int64_t i, T* work, int32_t* size) {
    CallFortran(ormqr, &side, &transpose, &m, &n, &k, reflectors.at(i), &lda, tau.at(i),
                product.at(i), &ldc, work, size, &info, kOneLetter, kOneLetter);
  };
  T asked{};
  run(0, &asked, &ask);
  int32_t size = WorkSize(asked, std::max(m, n));
  std::vector<T> work(size);
  for (int64_t i = 0; i < product.batch; ++i) run(i, work.data(), &size);
}

template <class T>
void Potrf(Call& call) {
  const auto a = call.Operand<T>(0);
  char uplo = call.Letter("uplo", "LU");
  const auto factor = call.Result<T>(0, a.rows, a.rows);
  const auto info = call.IntegerResult(1);
  call.Require(a.rows == a.columns, "the matrix is not square");
  if (!call.ok()) return;
  Call::Copy(a, factor);
  void* const potrf = Routine<T>("potrf");
  int32_t n = static_cast<int32_t>(a.rows), lda = Leading(n);
  for (int64_t k = 0; k < a.batch; ++k) {
    CallFortran(potrf, &uplo, &n, factor.at(k), &lda, info.at(k), kOneLetter);
  }
}

template <class T>
void Gtsv(Call& call) {
  const auto b = call.Operand<T>(3);
  const auto lower = call.VectorOperand<T>(0, b.rows);
  const auto diagonal = call.VectorOperand<T>(1, b.rows);
  const auto upper = call.VectorOperand<T>(2, b.rows);
  const auto lower_out = call.VectorResult<T>(0, b.rows);
  const auto diagonal_out = call.VectorResult<T>(1, b.rows);
  const auto upper_out = call.VectorResult<T>(2, b.rows);
  const auto x = call.Result<T>(3, b.rows, b.columns);
  const auto info = call.IntegerResult(4);
  if (!call.ok()) return;
  Call::Copy(lower, lower_out);
  Call::Copy(diagonal, diagonal_out);
  Call::Copy(upper, upper_out);
  Call::Copy(b, x);
  void* const gtsv = Routine<T>("gtsv");
  int32_t n = static_cast<int32_t>(b.rows), columns = static_cast<int32_t>(b.columns);
  int32_t ldb = Leading(n);
  for (int64_t k = 0; k < b.batch; ++k) {
    CallFortran(gtsv, &n, &columns, lower_out.at(k) + 1, diagonal_out.at(k), upper_out.at(k),
                x.at(k), &ldb, info.at(k));
  }
}

#define HONE_SOLVERS(T)          \
  template void Trsm<T>(Call&);  \
  template void Getrf<T>(Call&); \
  template void Geqrf<T>(Call&); \
  template void Geqp3<T>(Call&); \
  template void Orgqr<T>(Call&); \
  template void Ormqr<T>(Call&); \
  template void Potrf<T>(Call&); \
  template void Gtsv<T>(Call&);
HONE_SOLVERS(float)
HONE_SOLVERS(double)
HONE_SOLVERS(std::complex<float>)
HONE_SOLVERS(std::complex<double>)
#undef HONE_SOLVERS

}  // namespace hone::compiler
