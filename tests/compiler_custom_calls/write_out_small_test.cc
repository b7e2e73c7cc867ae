// Small matrices, sorts, gathers and scatters written out, against what XLA and LAPACK make of
// them.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "../compiler_rules/same_value.h"
#include "compiler/implementations/implementations.h"

namespace hone::compiler {
namespace {

struct Case {
  std::string label;
  std::string text;  // of ENTRY, behind its parameters
  std::vector<std::string> parameters;
  bool applies = true;
  bool special = false;
  std::string before;  // computations
  std::string implementation = "write_out_small";
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.label; }

std::string TextOf(const Case& c) {
  std::string text = "HloModule test\n" + c.before + "\nENTRY main {\n";
  for (size_t k = 0; k < c.parameters.size(); ++k) {
    text += "  p" + std::to_string(k) + " = " + c.parameters[k] + " parameter(" +
            std::to_string(k) + ")\n";
  }
  return text + c.text + "\n}\n";
}

// p0 times its transpose, with something added to the diagonal.
std::string Positive(const std::string& shape, const std::string& rank_2, int rank,
                     const std::string& type) {
  const std::string batch = rank == 3 ? "lhs_batch_dims={0}, rhs_batch_dims={0}, " : "";
  const std::string last = std::to_string(rank - 1), row = std::to_string(rank - 2);
  return "  product = " + shape + " dot(p0, p0), " + batch + "lhs_contracting_dims={" + last +
         "}, rhs_contracting_dims={" + last + "}\n  i = s32" + rank_2 +
         " iota(), iota_dimension=" + row + "\n  j = s32" + rank_2 +
         " iota(), iota_dimension=" + last + "\n  on = pred" + rank_2 +
         " compare(i, j), direction=EQ\n  one = " + type + "[] constant(1)\n  zero = " + type +
         "[] constant(0)\n  ones = " + shape +
         " broadcast(one), dimensions={}\n  zeros = " + shape +
         " broadcast(zero), dimensions={}\n  diagonal = " + shape +
         " select(on, ones, zeros)\n  positive = " + shape + " add(product, diagonal)\n";
}

// Triangular, away from zero on the diagonal.
std::string Solve(const std::string& type, const std::string& a, const std::string& b,
                  const std::string& options, int rank) {
  const std::string sizes = a.substr(a.find('['));
  std::string text = Positive(a, sizes, rank, type);
  return text + "  ROOT x = " + b + " triangular-solve(positive, p1), " + options;
}

std::string Sort(const std::string& what, const std::string& options) {
  return "  ROOT s = " + what + ", " + options + ", to_apply=less";
}

const char kLess[] = R"(
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER
})";
const char kMore[] = R"(
less {
  a = s16[] parameter(0)
  b = s16[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GT
})";
const char kLater[] = "later {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}\n";
const char kAdd[] =
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n";

std::vector<Case> Cases() {
  const std::string typed = ", api_version=API_VERSION_TYPED_FFI, backend_config=";
  const auto trsm = [&](const std::string& config, const std::string& sizes = "[3,4,4]") {
    const std::string right = "f64" + sizes + "{1,2,0}";
    return Positive("f64[3,4,4]", "[3,4,4]", 3, "f64") +
           "  columns = f64[3,4,4]{1,2,0} copy(positive)\n  right = " + right +
           " copy(p1)\n  ROOT x = " + right +
           " custom-call(columns, right), custom_call_target=\"lapack_dtrsm_ffi\", "
           "operand_layout_constraints={f64[3,4,4]{1,2,0}, " +
           right + "}" + typed + config;
  };
  // Of many right sides.
  const auto many = [&](const std::string& label, const std::string& config,
                        const std::string& sizes, bool applies = true) {
    return Case{label, trsm(config, sizes),  {"f64[3,4,4]", "f64" + sizes}, applies, false,
                "",    "triangular_inverses"};
  };
  // A product with a solve of 40 right sides; the matrix lies by rows, as LAPACK does not take it.
  const auto product = [&](const std::string& label, const std::string& config,
                           const std::string& factor, const std::string& shape,
                           const std::string& contracted) {
    return Case{label,
                Positive("f64[3,4,4]", "[3,4,4]", 3, "f64") +
                    "  right = f64[3,4,40]{1,2,0} copy(p1)\n  x = f64[3,4,40]{1,2,0} "
                    "custom-call(positive, right), custom_call_target=\"lapack_dtrsm_ffi\", "
                    "operand_layout_constraints={f64[3,4,4]{1,2,0}, f64[3,4,40]{1,2,0}}" +
                    typed + config + "\n  ROOT r = " + shape +
                    " dot(x, p2), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={" +
                    contracted + "}, rhs_contracting_dims={1}",
                {"f64[3,4,4]", "f64[3,4,40]", factor},
                true,
                false,
                "",
                "dot_before_solve"};
  };
  // Eigenvalues of the lower or the upper triangle, or with vectors.
  const auto values = [&](const std::string& label, const std::string& type,
                          const std::string& real, const std::string& size,
                          const std::string& target, const std::string& triangle,
                          bool applies = true) {
    const std::string sizes = "[40," + size + "," + size + "]", all = type + sizes + "{1,2,0}",
                      vector = real + "[40," + size + "]";
    return Case{label,
                "  e = (" + all + ", " + vector +
                    "{1,0}, s32[40]{0}) custom-call(p0), "
                    "custom_call_target=\"lapack_" +
                    target + "_ffi\", operand_layout_constraints={" + all + "}" + typed +
                    "{mode = 86 : ui8, uplo = " + triangle + " : ui8}\n  v = " + vector +
                    " get-tuple-element(e), index=1\n  i = s32[40] "
                    "get-tuple-element(e), index=2\n" +
                    (applies ? ""
                             : "  a = " + all + " get-tuple-element(e), index=0\n  m = " + all +
                                   " multiply(a, a)\n") +
                    "  ROOT t = (" + vector + ", s32[40]" + (applies ? "" : ", " + all) +
                    ") tuple(v, i" + (applies ? "" : ", m") + ")",
                {type + sizes},
                applies,
                false,
                "",
                "small_eigenvalues"};
  };
  const std::vector<std::string> two = {"f64[3,4,4]", "f64[3,4,4]"};
  return {
      values("eigenvalues of two dimensions", "f32", "f32", "2", "ssyevd", "76"),
      values("eigenvalues of three dimensions", "f32", "f32", "3", "ssyevd", "85"),
      values("eigenvalues of three dimensions, doubles", "f64", "f64", "3", "dsyevd", "76"),
      values("eigenvalues of four dimensions", "f32", "f32", "4", "ssyevd", "76", false),
      values("with vectors", "f32", "f32", "2", "ssyevd", "76", false),
      {"Hermitian eigenvalues",
       "  z = c64[40,2,2] complex(p0, p1)\n  e = (c64[40,2,2]{1,2,0}, f32[40,2]{1,0}, s32[40]{0}) "
       "custom-call(z), custom_call_target=\"lapack_cheevd_ffi\", "
       "operand_layout_constraints={c64[40,2,2]{1,2,0}}" +
           typed +
           "{mode = 86 : ui8, uplo = 76 : ui8}\n  ROOT v = f32[40,2] get-tuple-element(e), index=1",
       {"f32[40,2,2]", "f32[40,2,2]"},
       true,
       false,
       "",
       "small_eigenvalues"},
      {"singular values",
       "  s = (f64[40,2,2]{1,2,0}, f64[40,2]{1,0}, f64[40,2,2]{1,2,0}, f64[40,2,2]{1,2,0}, "
       "s32[40]{0}) "
       "custom-call(p0), custom_call_target=\"lapack_dgesdd_ffi\", "
       "operand_layout_constraints={f64[40,2,2]{1,2,0}}" +
           typed + "{mode = 78 : ui8}\n  ROOT v = f64[40,2] get-tuple-element(s), index=1",
       {"f64[40,2,2]"},
       true,
       false,
       "",
       "small_eigenvalues"},
      {"lu",
       "  c = f32[5,3,3]{1,2,0} copy(p0)\n  ROOT lu = (f32[5,3,3]{1,2,0}, s32[5,3]{1,0}, "
       "s32[5]{0}) custom-call(c), custom_call_target=\"lapack_sgetrf_ffi\", "
       "operand_layout_constraints={f32[5,3,3]{1,2,0}}" +
           typed + "{}",
       {"f32[5,3,3]"}},
      {"lu of more rows than columns, without a batch",
       "  c = f64[4,2]{0,1} copy(p0)\n  ROOT lu = (f64[4,2]{0,1}, s32[2]{0}, s32[]) "
       "custom-call(c), "
       "custom_call_target=\"lapack_dgetrf_ffi\", operand_layout_constraints={f64[4,2]{0,1}}" +
           typed + "{}",
       {"f64[4,2]"}},
      {"lu of a singular matrix",
       "  zero = f32[] constant(0)\n  zeros = f32[2,3,3] broadcast(zero), dimensions={}\n"
       "  z = f32[2,3,3] multiply(p0, zeros)\n  c = f32[2,3,3]{1,2,0} copy(z)\n"
       "  ROOT lu = (f32[2,3,3]{1,2,0}, s32[2,3]{1,0}, s32[2]{0}) custom-call(c), "
       "custom_call_target=\"lapack_sgetrf_ffi\", operand_layout_constraints={f32[2,3,3]{1,2,0}}" +
           typed + "{}",
       {"f32[2,3,3]"}},
      {"lu too large",
       "  c = f32[5,5]{0,1} copy(p0)\n  ROOT lu = (f32[5,5]{0,1}, s32[5]{0}, s32[]) "
       "custom-call(c), "
       "custom_call_target=\"lapack_sgetrf_ffi\", operand_layout_constraints={f32[5,5]{0,1}}" +
           typed + "{}",
       {"f32[5,5]"},
       false},
      {"lu of complex numbers",
       "  c = c64[3,3]{0,1} copy(p0)\n  ROOT lu = (c64[3,3]{0,1}, s32[3]{0}, s32[]) "
       "custom-call(c), "
       "custom_call_target=\"lapack_cgetrf_ffi\", operand_layout_constraints={c64[3,3]{0,1}}" +
           typed + "{}",
       {"c64[3,3]"},
       false},
      {"cholesky of LAPACK",
       Positive("f64[2,6,6]", "[2,6,6]", 3, "f64") +
           "  c = f64[2,6,6]{1,2,0} copy(positive)\n  ROOT l = (f64[2,6,6]{1,2,0}, s32[2]{0}) "
           "custom-call(c), custom_call_target=\"lapack_dpotrf_ffi\", "
           "operand_layout_constraints={f64[2,6,6]{1,2,0}}" +
           typed + "{uplo = 76 : ui8}",
       {"f64[2,6,6]"}},
      {"cholesky of LAPACK, upper",
       Positive("f32[3,3]", "[3,3]", 2, "f32") +
           "  c = f32[3,3]{0,1} copy(positive)\n  ROOT l = (f32[3,3]{0,1}, s32[]) custom-call(c), "
           "custom_call_target=\"lapack_spotrf_ffi\", operand_layout_constraints={f32[3,3]{0,1}}" +
           typed + "{uplo = 85 : ui8}",
       {"f32[3,3]"}},
      {"cholesky of XLA",
       Positive("f32[4,5,5]", "[4,5,5]", 3, "f32") +
           "  ROOT l = f32[4,5,5] cholesky(positive), lower=true",
       {"f32[4,5,5]"}},
      {"cholesky of XLA, upper, not positive definite",
       "  ROOT l = f32[4,3,3] cholesky(p0)",
       {"f32[4,3,3]"}},
      {"triangular solve of XLA",
       Solve("f32", "f32[4,3,3]", "f32[4,3,2]",
             "left_side=true, lower=true, transpose_a=NO_TRANSPOSE", 3),
       {"f32[4,3,3]", "f32[4,3,2]"}},
      {"triangular solve from the right, transposed",
       Solve("f64", "f64[3,3]", "f64[2,3]",
             "left_side=false, lower=true, unit_diagonal=true, transpose_a=TRANSPOSE", 2),
       {"f64[3,3]", "f64[2,3]"}},
      {"triangular solve too large",
       "  ROOT x = f32[9,2] triangular-solve(p0, p1), left_side=true, lower=true, "
       "transpose_a=NO_TRANSPOSE",
       {"f32[9,9]", "f32[9,2]"},
       false},
      {"triangular solve of LAPACK",
       trsm("{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}"), two},
      {"triangular solve of LAPACK, upper, transposed, unit diagonal",
       trsm("{diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}"), two},
      {"triangular solve of LAPACK from the right",
       trsm("{diag = 78 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}"), two},
      product("product over right sides",
              "{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}",
              "f64[3,40,2]", "f64[3,4,2]", "2"),
      product("product over what is solved",
              "{diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}",
              "f64[3,4,2]", "f64[3,40,2]", "1"),
      many("solve by the inverse",
           "{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}", "[3,4,16]"),
      many("solve by the inverse from the right, transposed, unit diagonal",
           "{diag = 85 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}", "[3,20,4]"),
      many("solve of few right sides",
           "{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}", "[3,4,15]",
           false),
      {"gather along the last dimension",
       "  ROOT g = f32[50,1] gather(p0, p1), offset_dims={}, collapsed_slice_dims={1}, "
       "start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, "
       "index_vector_dim=2, slice_sizes={1,1}",
       {"f32[50,6]", "s32[50,1,1]"}},
      {"gather of rows, indices outside, an offset of size one",
       "  ROOT g = f32[4,1,3] gather(p0, p1), offset_dims={1,2}, collapsed_slice_dims={}, "
       "start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
       {"f32[2,3]", "s32[4,1]"}},
      {"gather of one",
       "  ROOT g = f32[3] gather(p0, p1), offset_dims={0}, collapsed_slice_dims={0}, "
       "start_index_map={0}, index_vector_dim=0, slice_sizes={1,3}",
       {"f32[5,3]", "s32[1]"}},
      {"gather of parts",
       "  ROOT g = f32[4,2] gather(p0, p1), offset_dims={1}, "
       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
       "slice_sizes={1,2}",
       {"f32[2,3]", "s32[4,1]"},
       false},
      {"gather from many",
       "  ROOT g = f32[4] gather(p0, p1), offset_dims={}, "
       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
       "slice_sizes={1}",
       {"f32[9]", "s32[4,1]"},
       false},
      {"scatter of a row",
       "  ROOT s = f32[5,3] scatter(p0, p1, p2), update_window_dims={0}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, index_vector_dim=0, to_apply=later",
       {"f32[5,3]", "s32[1]", "f32[5]"},
       true,
       false,
       kLater},
      {"scatter of one for each of a batch, added",
       "  ROOT s = f32[5,3] scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
       "scatter_indices_batching_dims={0},"
       " index_vector_dim=1, to_apply=add",
       {"f32[5,3]", "s32[5,1]", "f32[5]"},
       true,
       false,
       kAdd},
      {"scatter of one with a window of one",
       "  ROOT s = f32[4] scatter(p0, p1, p2), update_window_dims={0}, inserted_window_dims={}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add",
       {"f32[4]", "s32[1]", "f32[1]"},
       true,
       false,
       kAdd},
      {"scatter of many",
       "  ROOT s = f32[4] scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       {"f32[4]", "s32[3,1]", "f32[3]"},
       false,
       false,
       kAdd},
      {"sort with positions, ties and NaNs",
       "  i = s32[7,9] iota(), iota_dimension=1\n" +
           Sort("(f32[7,9], s32[7,9]) sort(p0, i)", "dimensions={1}, is_stable=true"),
       {"f32[7,9]"},
       true,
       true,
       kLess},
      {"sort with another array, first dimension",
       Sort("(f32[16,3], s32[16,3]) sort(p0, p1)", "dimensions={0}, is_stable=true"),
       {"f32[16,3]", "s32[16,3]"},
       true,
       true,
       kLess},
      {"sort of integers, descending",
       Sort("s16[3,5] sort(p0)", "dimensions={1}"),
       {"s16[3,5]"},
       true,
       false,
       kMore},
      {"sort of two",
       Sort("s16[3,2] sort(p0)", "dimensions={1}"),
       {"s16[3,2]"},
       true,
       false,
       kMore},
      {"sort of many",
       Sort("s16[3,17] sort(p0)", "dimensions={1}"),
       {"s16[3,17]"},
       false,
       false,
       kMore},
  };
}

class WriteOutSmallTest : public testing::TestWithParam<Case> {};

TEST_P(WriteOutSmallTest, SameValueWhereItAppliesElseUntouched) {
  ExpectSameValueWhereItApplies(*FindImplementation(GetParam().implementation), TextOf(GetParam()),
                                GetParam().applies, GetParam().special, ExpectSameRuns);
}

INSTANTIATE_TEST_SUITE_P(All, WriteOutSmallTest, testing::ValuesIn(Cases()));

}  // namespace
}  // namespace hone::compiler
