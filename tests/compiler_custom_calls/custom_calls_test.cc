// The custom calls of jaxlib: each against its own definition (A = QR, AV = VW, …), in each element
// type.
#include "compiler/custom_calls/custom_calls.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/custom_calls/lapack_library.h"
#include "compiler/run/compare.h"
#include "compiler/run/execute.h"
#include "compiler/run/stand_in.h"
#include "run_call.h"
#include "support/literals.h"
#include "xla/hlo/parser/hlo_parser.h"

namespace hone::compiler {
namespace {

constexpr int64_t kOrder = 7;

struct Type {
  char letter;
  xla::PrimitiveType type, real;
  bool complex;
  double tolerance;
};
const Type kTypes[] = {{'s', xla::F32, xla::F32, false, 2e-5},
                       {'d', xla::F64, xla::F64, false, 1e-13},
                       {'c', xla::C64, xla::F32, true, 4e-5},
                       {'z', xla::C128, xla::F64, true, 2e-13}};

class CustomCalls : public testing::TestWithParam<Type> {
 protected:
  // A batch of two.
  std::vector<Matrix> Two(int64_t rows, int64_t columns, uint64_t seed = 1) const {
    return {Random(rows, columns, GetParam().complex, seed),
            Random(rows, columns, GetParam().complex, seed + 100)};
  }
  std::vector<Matrix> TwoHermitian(double diagonal) const {
    return {Hermitian(kOrder, GetParam().complex, 3, diagonal),
            Hermitian(kOrder, GetParam().complex, 4, diagonal)};
  }
  Argument In(std::vector<Matrix> values) const { return Matrices(type(), std::move(values)); }
  xla::PrimitiveType type() const { return GetParam().type; }
  xla::PrimitiveType real() const { return GetParam().real; }
  xla::PrimitiveType complex_type() const { return real() == xla::F32 ? xla::C64 : xla::C128; }

  // `complex_name` where LAPACK calls it otherwise for complex elements.
  CallResults Run(const std::string& name, const std::string& config,
                  const std::vector<Argument>& arguments, const std::vector<ResultShape>& results,
                  const std::string& complex_name = "") const {
    const std::string& routine = GetParam().complex && !complex_name.empty() ? complex_name : name;
    const CallText call{std::string("lapack_") + GetParam().letter + routine + "_ffi", config};
    auto found = RunCall(call, arguments, results);
    EXPECT_TRUE(found.ok()) << call.target << ": " << found.status();
    if (!found.ok()) return CallResults(results.size(), std::vector<Matrix>(2, Matrix(0, 0)));
    return *std::move(found);
  }

  void ExpectNear(const Matrix& a, const Matrix& b) const {
    EXPECT_LE(Distance(a, b), GetParam().tolerance);
  }
  void ExpectUnitary(const Matrix& q) const { ExpectNear(Adjoint(q) * q, Identity(q.columns)); }
};

std::string TypeName(const testing::TestParamInfo<Type>& info) {
  return std::string(1, info.param.letter);
}
INSTANTIATE_TEST_SUITE_P(All, CustomCalls, testing::ValuesIn(kTypes), TypeName);

std::string Letter(const char* name, char letter) {
  return std::string(name) + " = " + std::to_string(static_cast<int>(letter)) + " : ui8";
}

TEST_P(CustomCalls, Trsm) {
  std::vector<Matrix> a = Two(kOrder, kOrder), b = Two(kOrder, 3, 9), wide = Two(3, kOrder, 10);
  for (Matrix& matrix : a) {
    for (int64_t i = 0; i < kOrder; ++i) matrix.at(i, i) += 4.0;
  }
  const auto config = [](char side, char uplo, char transpose, char diagonal) {
    return Letter("diag", diagonal) + ", " + Letter("side", side) + ", " +
           Letter("trans_x", transpose) + ", " + Letter("uplo", uplo);
  };
  const auto left =
      Run("trsm", config('L', 'L', 'N', 'N'), {In(a), In(b)}, {{type(), {kOrder, 3}}});
  const auto right =
      Run("trsm", config('R', 'U', 'C', 'U'), {In(a), In(wide)}, {{type(), {3, kOrder}}});
  for (int k = 0; k < 2; ++k) {
    ExpectNear(Lower(a[k]) * left[0][k], b[k]);
    ExpectNear(right[0][k] * Adjoint(WithUnitDiagonal(Upper(a[k]))), wide[k]);
  }
}

TEST_P(CustomCalls, Getrf) {
  const std::vector<Matrix> a = Two(kOrder + 2, kOrder);
  const auto found = Run("getrf", "", {In(a)},
                         {{type(), {kOrder + 2, kOrder}}, {xla::S32, {kOrder}}, {xla::S32, {}}});
  for (int k = 0; k < 2; ++k) {
    Matrix exchanged = a[k];
    for (int64_t i = 0; i < kOrder; ++i) {
      const auto with = static_cast<int64_t>(found[1][k].at(i, 0).real()) - 1;
      ASSERT_TRUE(with >= i && with < kOrder + 2);
      for (int64_t j = 0; j < kOrder; ++j) std::swap(exchanged.at(i, j), exchanged.at(with, j));
    }
    const Matrix upper = FirstRows(Upper(found[0][k]), kOrder);
    ExpectNear(WithUnitDiagonal(Lower(found[0][k])) * upper, exchanged);
    EXPECT_EQ(found[2][k].at(0, 0), 0.0);
  }
}

TEST_P(CustomCalls, QrAndItsQ) {
  const int64_t rows = kOrder + 3;
  const std::vector<Matrix> a = Two(rows, kOrder), c = Two(rows, 2, 20);
  const auto factors = Run("geqrf", "", {In(a)}, {{type(), {rows, kOrder}}, {type(), {kOrder}}});
  const Argument tau = Vectors(type(), factors[1]);
  const auto q = Run("orgqr", "", {In(factors[0]), tau}, {{type(), {rows, kOrder}}}, "ungqr");
  const auto product = Run("ormqr", "left = true, transpose = true", {In(factors[0]), tau, In(c)},
                           {{type(), {rows, 2}}}, "unmqr");
  for (int k = 0; k < 2; ++k) {
    ExpectUnitary(q[0][k]);
    ExpectNear(q[0][k] * FirstRows(Upper(factors[0][k]), kOrder), a[k]);
    ExpectNear(FirstRows(product[0][k], kOrder), Adjoint(q[0][k]) * c[k]);
  }
}

TEST_P(CustomCalls, QrWithColumnExchanges) {
  const std::vector<Matrix> a = Two(kOrder + 1, kOrder);
  const std::vector<Matrix> free(2, Matrix(kOrder, 1));
  const auto found =
      Run("geqp3", "", {In(a), Vectors(xla::S32, free)},
          {{type(), {kOrder + 1, kOrder}}, {xla::S32, {kOrder}}, {type(), {kOrder}}});
  const auto q = Run("orgqr", "", {In(found[0]), Vectors(type(), found[2])},
                     {{type(), {kOrder + 1, kOrder}}}, "ungqr");
  for (int k = 0; k < 2; ++k) {
    const Matrix r = FirstRows(Upper(found[0][k]), kOrder);
    const Matrix product = q[0][k] * r;
    for (int64_t j = 0; j < kOrder; ++j) {
      const auto from = static_cast<int64_t>(found[1][k].at(j, 0).real()) - 1;
      for (int64_t i = 0; i < kOrder + 1; ++i) {
        EXPECT_LE(std::abs(product.at(i, j) - a[k].at(i, from)), GetParam().tolerance);
      }
      const double before = j > 0 ? std::abs(r.at(j - 1, j - 1)) : HUGE_VAL;
      EXPECT_LE(std::abs(r.at(j, j)), before * 1.0001);
    }
  }
}

TEST_P(CustomCalls, Potrf) {
  const std::vector<Matrix> a = TwoHermitian(kOrder);
  const std::vector<ResultShape> results = {{type(), {kOrder, kOrder}}, {xla::S32, {}}};
  const auto lower = Run("potrf", Letter("uplo", 'L'), {In(a)}, results);
  const auto upper = Run("potrf", Letter("uplo", 'U'), {In(a)}, results);
  const auto indefinite = Run("potrf", Letter("uplo", 'L'), {In(TwoHermitian(-1))}, results);
  for (int k = 0; k < 2; ++k) {
    ExpectNear(Lower(lower[0][k]) * Adjoint(Lower(lower[0][k])), a[k]);
    ExpectNear(Adjoint(Upper(upper[0][k])) * Upper(upper[0][k]), a[k]);
    EXPECT_GT(indefinite[1][k].at(0, 0).real(), 0);
  }
}

TEST_P(CustomCalls, SingularValues) {
  const int64_t m = kOrder + 2, n = kOrder;
  const std::vector<Matrix> a = Two(m, n);
  for (const char* routine : {"gesdd", "gesvd"}) {
    const auto some =
        Run(routine, Letter("mode", 'S'), {In(a)},
            {{type(), {m, n}}, {real(), {n}}, {type(), {m, n}}, {type(), {n, n}}, {xla::S32, {}}});
    const auto all =
        Run(routine, Letter("mode", 'A'), {In(a)},
            {{type(), {m, n}}, {real(), {n}}, {type(), {m, m}}, {type(), {n, n}}, {xla::S32, {}}});
    const auto none =
        Run(routine, Letter("mode", 'N'), {In(a)},
            {{type(), {m, n}}, {real(), {n}}, {type(), {m, n}}, {type(), {n, n}}, {xla::S32, {}}});
    for (int k = 0; k < 2; ++k) {
      ExpectUnitary(some[2][k]);
      ExpectUnitary(all[2][k]);
      ExpectUnitary(Adjoint(some[3][k]));
      ExpectNear(some[2][k] * Diagonal(some[1][k]) * some[3][k], a[k]);
      ExpectNear(none[1][k], some[1][k]);
      ExpectNear(all[1][k], some[1][k]);
      EXPECT_EQ(none[2][k].at(0, 0), 0.0) << "left to chance";
    }
  }
}

TEST_P(CustomCalls, EigenvaluesOfHermitianMatrices) {
  const std::vector<Matrix> a = TwoHermitian(0);
  const std::vector<ResultShape> results = {
      {type(), {kOrder, kOrder}}, {real(), {kOrder}}, {xla::S32, {}}};
  for (const char uplo : {'L', 'U'}) {
    const auto found =
        Run("syevd", Letter("mode", 'V') + ", " + Letter("uplo", uplo), {In(a)}, results, "heevd");
    const auto values =
        Run("syevd", Letter("mode", 'N') + ", " + Letter("uplo", uplo), {In(a)}, results, "heevd");
    for (int k = 0; k < 2; ++k) {
      ExpectUnitary(found[0][k]);
      ExpectNear(a[k] * found[0][k], found[0][k] * Diagonal(found[1][k]));
      ExpectNear(values[1][k], found[1][k]);
    }
  }
}

TEST_P(CustomCalls, EigenvaluesOfGeneralMatrices) {
  const std::vector<Matrix> a = Two(kOrder, kOrder);
  std::vector<ResultShape> results = {{type(), {kOrder}},
                                      {complex_type(), {kOrder, kOrder}},
                                      {complex_type(), {kOrder, kOrder}},
                                      {xla::S32, {}}};
  if (!GetParam().complex) results.insert(results.begin(), results[0]);
  const size_t vectors = results.size() - 3;
  const auto found = Run("geev", Letter("compute_left", 'V') + ", " + Letter("compute_right", 'V'),
                         {In(a)}, results);
  const auto right = Run("geev", Letter("compute_left", 'N') + ", " + Letter("compute_right", 'V'),
                         {In(a)}, results);
  for (int k = 0; k < 2; ++k) {
    Matrix values = found[0][k];
    for (int64_t i = 0; i < kOrder && vectors == 2; ++i) {
      values.at(i, 0) = {values.at(i, 0).real(), found[1][k].at(i, 0).real()};
    }
    ExpectNear(a[k] * found[vectors + 1][k], found[vectors + 1][k] * Diagonal(values));
    ExpectNear(Adjoint(found[vectors][k]) * a[k], Diagonal(values) * Adjoint(found[vectors][k]));
    ExpectNear(right[vectors + 1][k], found[vectors + 1][k]);
    EXPECT_EQ(right[vectors][k].at(0, 0), 0.0) << "left to chance";
  }
}

TEST_P(CustomCalls, SchurForm) {
  const std::vector<Matrix> a = Two(kOrder, kOrder);
  std::vector<ResultShape> results = {{type(), {kOrder, kOrder}},
                                      {type(), {kOrder, kOrder}},
                                      {type(), {kOrder}},
                                      {xla::S32, {}},
                                      {xla::S32, {}}};
  if (!GetParam().complex) results.insert(results.begin() + 2, results[2]);
  const auto found =
      Run("gees", Letter("mode", 'V') + ", " + Letter("sort", 'N'), {In(a)}, results);
  for (int k = 0; k < 2; ++k) {
    ExpectUnitary(found[1][k]);
    ExpectNear(found[1][k] * found[0][k] * Adjoint(found[1][k]), a[k]);
    ExpectNear(Lower(found[0][k], GetParam().complex ? -1 : -2), Matrix(kOrder, kOrder));
  }
}

TEST_P(CustomCalls, FormsByReflectors) {
  const std::vector<Matrix> a = Two(kOrder, kOrder), b = TwoHermitian(0);
  const auto hessenberg = Run("gehrd", "high = 7 : i32, low = 1 : i32", {In(a)},
                              {{type(), {kOrder, kOrder}}, {type(), {kOrder - 1}}, {xla::S32, {}}});
  const auto tridiagonal = Run("sytrd", Letter("uplo", 'L'), {In(b)},
                               {{type(), {kOrder, kOrder}},
                                {real(), {kOrder}},
                                {real(), {kOrder - 1}},
                                {type(), {kOrder - 1}},
                                {xla::S32, {}}},
                               "hetrd");
  for (int k = 0; k < 2; ++k) {
    // Of the same eigenvalues: the traces of their powers agree.
    const Matrix h = Upper(hessenberg[0][k], -1);
    Matrix t = Diagonal(tridiagonal[1][k]);
    for (int64_t i = 0; i + 1 < kOrder; ++i) {
      t.at(i, i + 1) = t.at(i + 1, i) = tridiagonal[2][k].at(i, 0);
    }
    for (const auto& [form, matrix] : {std::pair(h, a[k]), std::pair(t, b[k])}) {
      const double tolerance = 30 * GetParam().tolerance;
      EXPECT_LE(std::abs(Trace(form) - Trace(matrix)), tolerance);
      EXPECT_LE(std::abs(Trace(form * form) - Trace(matrix * matrix)), tolerance);
      EXPECT_LE(std::abs(Trace(form * form * form) - Trace(matrix * matrix * matrix)), tolerance);
    }
  }
}

TEST_P(CustomCalls, TridiagonalSystems) {
  std::vector<Matrix> lower = Two(kOrder, 1, 30), middle = Two(kOrder, 1, 31),
                      upper = Two(kOrder, 1, 32);
  const std::vector<Matrix> b = Two(kOrder, 2, 33);
  std::vector<Matrix> dense(2, Matrix(kOrder, kOrder));
  for (int k = 0; k < 2; ++k) {
    for (int64_t i = 0; i < kOrder; ++i) {
      dense[k].at(i, i) = middle[k].at(i, 0) += 2.5;
      if (i > 0) dense[k].at(i, i - 1) = lower[k].at(i, 0);
      if (i + 1 < kOrder) dense[k].at(i, i + 1) = upper[k].at(i, 0);
    }
  }
  const ResultShape diagonal{type(), {kOrder}}, right{type(), {kOrder, 2}};
  const std::vector<Argument> arguments = {Vectors(type(), lower), Vectors(type(), middle),
                                           Vectors(type(), upper), In(b)};
  const auto found =
      Run("gtsv", "", arguments, {diagonal, diagonal, diagonal, right, {xla::S32, {}}});
  const auto perturbed = RunCall({"tridiagonal_solve_perturbed_ffi", ""}, arguments, {right});
  ASSERT_TRUE(perturbed.ok()) << perturbed.status();
  for (int k = 0; k < 2; ++k) {
    ExpectNear(dense[k] * found[3][k], b[k]);
    ExpectNear(dense[k] * (*perturbed)[0][k], b[k]);
  }
  // Singular ones have large solutions, not infinite ones; row exchanges keep others exact.
  const std::vector<Matrix> zero(2, Matrix(kOrder, 1));
  const auto singular =
      RunCall({"tridiagonal_solve_perturbed_ffi", ""},
              {arguments[0], Vectors(type(), zero), arguments[2], arguments[3]}, {right});
  ASSERT_TRUE(singular.ok()) << singular.status();
  for (const Number& value : (*singular)[0][0].values) EXPECT_TRUE(std::isfinite(std::abs(value)));
}

TEST_P(CustomCalls, NotANumberEndsInAVerdict) {
  std::vector<Matrix> a = Two(kOrder, kOrder);
  a[0].at(2, 3) = std::nan("");
  const auto found = Run("gesdd", Letter("mode", 'S'), {In(a)},
                         {{type(), {kOrder, kOrder}},
                          {real(), {kOrder}},
                          {type(), {kOrder, kOrder}},
                          {type(), {kOrder, kOrder}},
                          {xla::S32, {}}});
  EXPECT_LT(found[4][0].at(0, 0).real(), 0);
  EXPECT_EQ(found[4][1].at(0, 0), 0.0);
}

TEST(CustomCall, SparseTimesDense) {
  // [[0 2], [3 4], [0 0]] in a batch of one, which the call does not know.
  const auto module = xla::ParseAndReturnUnverifiedModule(R"(
HloModule m
ENTRY e {
  v = f32[3] constant({2, 3, 4})
  s = s32[4] constant({0, 1, 3, 3})
  c = s32[3] constant({1, 0, 1})
  d = f32[2,2] constant({{1, 10}, {100, 1000}})
  ROOT r = f32[3,2] custom-call(v, s, c, d), custom_call_target="cpu_csr_sparse_dense_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  auto program = Program::Compile(**module, CodeQuality::kQuickCompile);
  ASSERT_TRUE(program.ok()) << program.status();
  auto results = program->Run({});
  ASSERT_TRUE(results.ok()) << results.status();
  const xla::Literal result = std::move(LiteralsOf(*results)[0]);
  const auto values = result.data<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{200, 2000, 403, 4030, 0, 0}));
}

TEST(CustomCall, ShapesAndAttributesThatDoNotFitAreErrors) {
  const Argument square = Matrices(xla::F32, {Identity(3)}),
                 tall = Matrices(xla::F32, {Random(4, 3, false, 1)});
  const auto message = [](const absl::StatusOr<CallResults>& found) {
    return found.ok() ? std::string("none") : std::string(found.status().message());
  };
  const ResultShape matrix{xla::F32, {3, 3}}, whole{xla::S32, {}};
  EXPECT_NE(message(RunCall({"lapack_spotrf_ffi", "uplo = 88 : ui8"}, {square}, {matrix, whole}))
                .find("attribute uplo"),
            std::string::npos);
  EXPECT_NE(
      message(RunCall({"lapack_spotrf_ffi", ""}, {square}, {matrix, whole})).find("attribute uplo"),
      std::string::npos);
  EXPECT_NE(message(RunCall({"lapack_spotrf_ffi", "uplo = 76 : ui8"}, {tall}, {matrix, whole}))
                .find("result 0"),
            std::string::npos);
  EXPECT_NE(message(RunCall({"lapack_dpotrf_ffi", "uplo = 76 : ui8"}, {square}, {matrix, whole}))
                .find("operand 0"),
            std::string::npos);
}

TEST(CustomCall, LapackKeepsToItself) {
  // Neither does anybody else call its functions, nor does it call XLA's.
  EXPECT_TRUE(HasLapack());
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "dgetrf_"), nullptr);
  EXPECT_NE(LapackFunction("dgetrf_"), nullptr);
  auto* threads = reinterpret_cast<int (*)()>(LapackFunction("openblas_get_num_threads"));
  EXPECT_EQ(threads == nullptr ? 1 : threads(), 1);
}

// Newer processors than OpenBLAS knows are taken for what they can do.
TEST(CustomCall, LapackUsesTheProcessor) {
  auto* core = reinterpret_cast<const char* (*)()>(LapackFunction("openblas_get_corename"));
  if (core == nullptr || !__builtin_cpu_supports("avx2")) GTEST_SKIP() << "not for this machine";
  EXPECT_NE(core(), std::string("Prescott"));
}

// What a user's Python function answers nobody knows here: what stands in for it depends on all that
// is of the result's kind, and is the same every time.
TEST(CustomCall, SomethingStandsInForPython) {
  const std::string calls = R"(
HloModule m
ENTRY e {
  x = f32[2] constant({3, 5})
  n = s32[] constant(7)
  same = (f32[2], s32[]) custom-call(x, n), custom_call_target="xla_ffi_python_cpu_callback",
    api_version=API_VERSION_TYPED_FFI, backend_config={index = 0 : ui64}
  a = f32[2] get-tuple-element(same), index=0
  b = s32[] get-tuple-element(same), index=1
  c = f64[3] custom-call(x, n), custom_call_target="xla_ffi_python_cpu_callback",
    api_version=API_VERSION_TYPED_FFI, backend_config={index = 1 : ui64}
  d = s32[2] custom-call(x), custom_call_target="xla_ffi_python_cpu_callback",
    api_version=API_VERSION_TYPED_FFI, backend_config={index = 2 : ui64}
  said = () custom-call(x), custom_call_target="xla_ffi_python_cpu_callback",
    custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI,
    backend_config={index = 3 : ui64}
  ROOT r = (f32[2], s32[], f64[3], s32[2]) tuple(a, b, c, d)
})";
  const auto module = xla::ParseAndReturnUnverifiedModule(calls);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(CallsPython(**module));
  const auto program = Program::Compile(**module, CodeQuality::kQuickCompile);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto results = program->Run({});
  ASSERT_TRUE(results.ok()) << results.status();
  const std::vector<xla::Literal> found = LiteralsOf(*results);
  EXPECT_EQ(found[0].Get<float>({1}), 5);
  EXPECT_EQ(found[1].Get<int32_t>({}), 7);
  EXPECT_EQ(found[2].Get<double>({2}), 4);
  EXPECT_EQ(found[3].Get<int32_t>({1}), 0);

  std::string other = calls;
  other.replace(other.find("{3, 5}"), 6, "{3, 6}");
  const auto changed = xla::ParseAndReturnUnverifiedModule(other);
  EXPECT_EQ(Compare(**module, **changed, {}).verdict, Verdict::kDifferent);
  CompilePlan plan;
  plan.flags = {{"xla_cpu_prefer_vector_width", "128"}};
  const ComparisonReport equal = Compare(**module, **module, {}, {}, plan);
  EXPECT_EQ(equal.verdict, Verdict::kEqual);
  EXPECT_NE(equal.method.find("stand-ins for Python's callbacks"), std::string::npos);
}

TEST(CustomCall, MissingOnesAreNamed) {
  const auto module = xla::ParseAndReturnUnverifiedModule(R"(
HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] custom-call(x), custom_call_target="nobodys_own"
  ROOT b = f32[4] custom-call(a), custom_call_target="dce_sink", api_version=API_VERSION_TYPED_FFI
})");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(MissingCustomCalls(**module), std::set<std::string>{"nobodys_own"});
  EXPECT_EQ(HowToGetCustomCall("nobodys_own"), "");
  EXPECT_EQ(HowToGetCustomCall("lapack_sgetrf_ffi"), "");  // it is there
  EXPECT_NE(HowToGetLapack().find("libopenblas0-pthread"), std::string::npos);
}

}  // namespace
}  // namespace hone::compiler

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  hone::compiler::LoadLapack();
  hone::compiler::RegisterCustomCalls();
  return RUN_ALL_TESTS();
}
