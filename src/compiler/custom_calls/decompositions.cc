#include "compiler/custom_calls/decompositions.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <tuple>
#include <type_traits>
#include <vector>

#include "compiler/custom_calls/fortran.h"

namespace hone::compiler {
namespace {

// LAPACK's own number for an argument that is not finite, where a routine would loop or crash on
// it.
constexpr int32_t kNotFinite = -4;

// What two squares of it need as workspace still has a 32-bit number.
constexpr int64_t kMostRows = 32000;

template <class T>
bool AllFinite(const T* data, int64_t count) {
  return std::all_of(data, data + count, [](const T& value) {
    return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
  });
}

template <class T>
void Zero(const Matrices<T>& all) {
  std::fill_n(all.data, all.batch * all.size(), T{});
}

// Runs a routine on each matrix of a batch. `run(k, work, size)` first tells in work[0] how much
// workspace it wants, as LAPACK does where the size is -1; it gets `least` at least. What is not
// finite is not given to it, and its number says so.
template <class Input, class Run>
void ForEachMatrix(const Matrices<Input>& batch, const Matrices<int32_t>& info, int64_t least,
                   Run run) {
  using T = std::remove_const_t<Input>;
  if (batch.batch == 0) return;
  T asked{};
  int32_t ask = -1;
  run(0, &asked, &ask);
  int32_t size = WorkSize(asked, least);
  std::vector<T> work(size);
  for (int64_t k = 0; k < batch.batch; ++k) {
    if (AllFinite(batch.at(k), batch.size())) {
      run(k, work.data(), &size);
    } else {
      *info.at(k) = kNotFinite;
    }
  }
}

int32_t Int(int64_t value) { return static_cast<int32_t>(value); }

template <class T>
struct Singular {
  explicit Singular(Call& call)
      : a(call.Operand<T>(0)),
        scratch(call.Result<T>(0, a.rows, a.columns)),
        values(call.VectorResult<RealOf<T>>(1, std::min(a.rows, a.columns))),
        mode(call.Letter("mode", "ASN")),
        u(call.Result<T>(2, mode == 'N' ? Call::kAny : a.rows,
                         mode == 'N'   ? Call::kAny
                         : mode == 'A' ? a.rows
                                       : values.rows)),
        vt(call.Result<T>(3,
                          mode == 'N'   ? Call::kAny
                          : mode == 'A' ? a.columns
                                        : values.rows,
                          mode == 'N' ? Call::kAny : a.columns)),
        info(call.IntegerResult(4)) {
    if (!call.ok()) return;
    Call::Copy(a, scratch);
    Zero(values);
    Zero(u);
    Zero(vt);
  }

  Matrices<const T> a;
  Matrices<T> scratch;
  Matrices<RealOf<T>> values;
  char mode;
  Matrices<T> u, vt;
  Matrices<int32_t> info;
};

}  // namespace

template <class T>
void Gesdd(Call& call) {
  Singular<T> given(call);
  if (!call.ok()) return;
  void* const gesdd = Routine<T>("gesdd");
  const int64_t least = std::min(given.a.rows, given.a.columns);
  const int64_t most = std::max(given.a.rows, given.a.columns);
  int32_t m = Int(given.a.rows), n = Int(given.a.columns), lda = Leading(m);
  int32_t ldu = Leading(given.u.rows), ldvt = Leading(given.vt.rows);
  std::vector<int32_t> whole_work(8 * least + 1);
  // As its own documentation says, or older versions', whichever is more.
  std::vector<RealOf<T>> real_work(
      std::max(5 * least * least + 7 * least, 2 * most * least + 2 * least * least + least) + 1);
  const auto run = [&](int64_t k, T* work, int32_t* size) {
    if constexpr (Element<T>::kComplex) {
      CallFortran(gesdd, &given.mode, &m, &n, given.scratch.at(k), &lda, given.values.at(k),
                  given.u.at(k), &ldu, given.vt.at(k), &ldvt, work, size, real_work.data(),
                  whole_work.data(), given.info.at(k), kOneLetter);
    } else {
      CallFortran(gesdd, &given.mode, &m, &n, given.scratch.at(k), &lda, given.values.at(k),
                  given.u.at(k), &ldu, given.vt.at(k), &ldvt, work, size, whole_work.data(),
                  given.info.at(k), kOneLetter);
    }
  };
  ForEachMatrix(given.scratch, given.info, 1, run);
}

template <class T>
void Gesvd(Call& call) {
  Singular<T> given(call);
  if (!call.ok()) return;
  void* const gesvd = Routine<T>("gesvd");
  int32_t m = Int(given.a.rows), n = Int(given.a.columns), lda = Leading(m);
  int32_t ldu = Leading(given.u.rows), ldvt = Leading(given.vt.rows);
  std::vector<RealOf<T>> real_work(5 * given.values.rows + 1);
  const auto run = [&](int64_t k, T* work, int32_t* size) {
    if constexpr (Element<T>::kComplex) {
      CallFortran(gesvd, &given.mode, &given.mode, &m, &n, given.scratch.at(k), &lda,
                  given.values.at(k), given.u.at(k), &ldu, given.vt.at(k), &ldvt, work, size,
                  real_work.data(), given.info.at(k), kOneLetter, kOneLetter);
    } else {
      CallFortran(gesvd, &given.mode, &given.mode, &m, &n, given.scratch.at(k), &lda,
                  given.values.at(k), given.u.at(k), &ldu, given.vt.at(k), &ldvt, work, size,
                  given.info.at(k), kOneLetter, kOneLetter);
    }
  };
  ForEachMatrix(given.scratch, given.info, 1, run);
}

template <class T>
void Syevd(Call& call) {
  const auto a = call.Operand<T>(0);
  char uplo = call.Letter("uplo", "LU");
  char mode = call.Letter("mode", "VN");
  const auto vectors = call.Result<T>(0, a.rows, a.rows);
  const auto values = call.VectorResult<RealOf<T>>(1, a.rows);
  const auto info = call.IntegerResult(2);
  call.Require(a.rows == a.columns, "the matrix is not square");
  call.Require(a.rows <= kMostRows, "the matrix has more than 32,000 rows");
  if (!call.ok()) return;
  Call::Copy(a, vectors);
  Zero(values);
  void* const syevd = Routine<T>("syevd", "heevd");
  int32_t n = Int(a.rows), lda = Leading(n);
  int32_t whole_size = Int(3 + 5 * a.rows);
  int32_t real_size = Int(1 + 5 * a.rows + 2 * a.rows * a.rows);
  std::vector<int32_t> whole_work(whole_size);
  std::vector<RealOf<T>> real_work(Element<T>::kComplex ? real_size : 0);
  const auto run = [&](int64_t k, T* work, int32_t* size) {
    if constexpr (Element<T>::kComplex) {
      CallFortran(syevd, &mode, &uplo, &n, vectors.at(k), &lda, values.at(k), work, size,
                  real_work.data(), &real_size, whole_work.data(), &whole_size, info.at(k),
                  kOneLetter, kOneLetter);
    } else {
      CallFortran(syevd, &mode, &uplo, &n, vectors.at(k), &lda, values.at(k), work, size,
                  whole_work.data(), &whole_size, info.at(k), kOneLetter, kOneLetter);
    }
  };
  ForEachMatrix(vectors, info, 1 + 6 * a.rows + 2 * a.rows * a.rows, run);  // all modes' least
}

namespace {

// Real matrices have complex eigenvectors in pairs: LAPACK gives the real and the imaginary part of
// the first of each pair as two columns.
template <class Real>
void Unpack(const Real* packed, const Real* imaginary, int64_t n, std::complex<Real>* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      const Real real = packed[j * n + i];
      const Real other = pair ? packed[(j + 1) * n + i] : Real{0};
      vectors[j * n + i] = {real, other};
      if (pair) vectors[(j + 1) * n + i] = {real, -other};
    }
    if (pair) ++j;
  }
}

}  // namespace

template <class T>
void Geev(Call& call) {
  using Complex = std::complex<RealOf<T>>;
  constexpr bool kComplex = Element<T>::kComplex;
  const auto a = call.Operand<T>(0);
  char left = call.Letter("compute_left", "VN");
  char right = call.Letter("compute_right", "VN");
  size_t next = 0;
  const auto values = call.VectorResult<T>(next++, a.rows);
  const auto imaginary = kComplex ? values : call.VectorResult<T>(next++, a.rows);
  const auto left_vectors = call.Result<Complex>(next++, a.rows, a.rows);
  const auto right_vectors = call.Result<Complex>(next++, a.rows, a.rows);
  const auto info = call.IntegerResult(next++);
  call.Require(a.rows == a.columns, "the matrix is not square");
  if (!call.ok()) return;
  Zero(values);
  Zero(imaginary);
  Zero(left_vectors);
  Zero(right_vectors);
  void* const geev = Routine<T>("geev");
  int32_t n = Int(a.rows), lda = Leading(n);
  std::vector<T> copy(a.size() + 1), of_left(a.size() + 1), of_right(a.size() + 1);
  std::vector<RealOf<T>> real_work(2 * a.rows + 1);
  const auto run = [&](int64_t k, T* work, int32_t* size) {
    std::copy_n(a.at(k), a.size(), copy.data());
    if constexpr (kComplex) {
      CallFortran(geev, &left, &right, &n, copy.data(), &lda, values.at(k), of_left.data(), &lda,
                  of_right.data(), &lda, work, size, real_work.data(), info.at(k), kOneLetter,
                  kOneLetter);
    } else {
      CallFortran(geev, &left, &right, &n, copy.data(), &lda, values.at(k), imaginary.at(k),
                  of_left.data(), &lda, of_right.data(), &lda, work, size, info.at(k), kOneLetter,
                  kOneLetter);
    }
    if (*size == -1 || *info.at(k) != 0) return;
    for (auto [wanted, from, to] : {std::tuple(left, of_left.data(), left_vectors.at(k)),
                                    std::tuple(right, of_right.data(), right_vectors.at(k))}) {
      if (wanted == 'N') continue;
      if constexpr (kComplex) {
        std::copy_n(from, a.size(), to);
      } else {
        Unpack(from, imaginary.at(k), a.rows, to);
      }
    }
  };
  ForEachMatrix(a, info, 4 * a.rows, run);
}

template <class T>
void Gees(Call& call) {
  constexpr bool kComplex = Element<T>::kComplex;
  const auto a = call.Operand<T>(0);
  char mode = call.Letter("mode", "VN");
  char sort = call.Letter("sort", "N");
  size_t next = 0;
  const auto form = call.Result<T>(next++, a.rows, a.rows);
  const auto vectors = call.Result<T>(next++, a.rows, a.rows);
  const auto values = call.VectorResult<T>(next++, a.rows);
  const auto imaginary = kComplex ? values : call.VectorResult<T>(next++, a.rows);
  const auto selected = call.IntegerResult(next++);
  const auto info = call.IntegerResult(next++);
  call.Require(a.rows == a.columns, "the matrix is not square");
  if (!call.ok()) return;
  Call::Copy(a, form);
  Zero(vectors);
  Zero(values);
  Zero(imaginary);
  Zero(selected);
  void* const gees = Routine<T>("gees");
  void* const select = nullptr;
  int32_t n = Int(a.rows), lda = Leading(n);
  std::vector<RealOf<T>> real_work(a.rows + 1);
  std::vector<int32_t> marks(a.rows + 1);
  const auto run = [&](int64_t k, T* work, int32_t* size) {
    if constexpr (kComplex) {
      CallFortran(gees, &mode, &sort, select, &n, form.at(k), &lda, selected.at(k), values.at(k),
                  vectors.at(k), &lda, work, size, real_work.data(), marks.data(), info.at(k),
                  kOneLetter, kOneLetter);
    } else {
      CallFortran(gees, &mode, &sort, select, &n, form.at(k), &lda, selected.at(k), values.at(k),
                  imaginary.at(k), vectors.at(k), &lda, work, size, marks.data(), info.at(k),
                  kOneLetter, kOneLetter);
    }
  };
  ForEachMatrix(form, info, 3 * a.rows, run);
}

template <class T>
void Gehrd(Call& call) {
  const auto a = call.Operand<T>(0);
  int32_t low = call.Attribute<int32_t>("low"), high = call.Attribute<int32_t>("high");
  const auto form = call.Result<T>(0, a.rows, a.rows);
  const auto tau = call.VectorResult<T>(1, std::max<int64_t>(a.rows - 1, 0));
  const auto info = call.IntegerResult(2);
  call.Require(a.rows == a.columns, "the matrix is not square");
  if (!call.ok()) return;
  Call::Copy(a, form);
  Zero(tau);
  Zero(info);
  if (a.batch == 0 || a.rows == 0) return;
  call.Require(low >= 1 && low <= high && high <= a.rows,
               "low and high are not rows of the matrix");
  if (!call.ok()) return;
  void* const gehrd = Routine<T>("gehrd");
  int32_t n = Int(a.rows), lda = Leading(n);
  int32_t ask = -1;
  T asked{};
  CallFortran(gehrd, &n, &low, &high, form.data, &lda, tau.data, &asked, &ask, info.data);
  int32_t size = WorkSize(asked, a.rows);
  std::vector<T> work(size);
  for (int64_t k = 0; k < a.batch; ++k) {
    CallFortran(gehrd, &n, &low, &high, form.at(k), &lda, tau.at(k), work.data(), &size,
                info.at(k));
  }
}

template <class T>
void Sytrd(Call& call) {
  const auto a = call.Operand<T>(0);
  char uplo = call.Letter("uplo", "LU");
  const int64_t off = std::max<int64_t>(a.rows - 1, 0);
  const auto reflectors = call.Result<T>(0, a.rows, a.rows);
  const auto diagonal = call.VectorResult<RealOf<T>>(1, a.rows);
  const auto off_diagonal = call.VectorResult<RealOf<T>>(2, off);
  const auto tau = call.VectorResult<T>(3, off);
  const auto info = call.IntegerResult(4);
  call.Require(a.rows == a.columns, "the matrix is not square");
  if (!call.ok()) return;
  Call::Copy(a, reflectors);
  Zero(info);
  if (a.batch == 0 || a.rows == 0) return;
  void* const sytrd = Routine<T>("sytrd", "hetrd");
  int32_t n = Int(a.rows), lda = Leading(n);
  const auto run = [&](int64_t k, T* work, int32_t* size) {
    CallFortran(sytrd, &uplo, &n, reflectors.at(k), &lda, diagonal.at(k), off_diagonal.at(k),
                tau.at(k), work, size, info.at(k), kOneLetter);
  };
  int32_t ask = -1;
  T asked{};
  run(0, &asked, &ask);
  int32_t size = WorkSize(asked);
  std::vector<T> work(size);
  for (int64_t k = 0; k < a.batch; ++k) run(k, work.data(), &size);
}

#define HONE_DECOMPOSITIONS(T)   \
  template void Gesdd<T>(Call&); \
  template void Gesvd<T>(Call&); \
  template void Syevd<T>(Call&); \
  template void Geev<T>(Call&);  \
  template void Gees<T>(Call&);  \
  template void Gehrd<T>(Call&); \
  template void Sytrd<T>(Call&);
HONE_DECOMPOSITIONS(float)
HONE_DECOMPOSITIONS(double)
HONE_DECOMPOSITIONS(std::complex<float>)
HONE_DECOMPOSITIONS(std::complex<double>)
#undef HONE_DECOMPOSITIONS

}  // namespace hone::compiler
