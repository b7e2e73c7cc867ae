// Programs that factor many small matrices, and solve with them.
#include "program_cases.h"

namespace hone::loops {
namespace {

// By LAPACK's name, as JAX calls it.
std::string Lapack(const std::string& result, const std::string& operands, const std::string& name,
                   const std::string& layouts, const std::string& config = "{}") {
  return result + " custom-call(" + operands + "), custom_call_target=\"lapack_" + name +
         "_ffi\", operand_layout_constraints={" + layouts +
         "}, api_version=API_VERSION_TYPED_FFI, backend_config=" + config + "\n";
}

// Factors of x, [64,9,9] or others, in a tuple.
std::string Lu(const std::string& type, const std::string& batch, const std::string& n,
               const std::string& layout, const std::string& sizes) {
  const std::string matrices = type + "[" + batch + "," + n + "," + n + "]" + layout;
  return "  x = " + matrices + " parameter(0)\n  ROOT lu = " +
         Lapack("(" + matrices + ", s32[" + sizes + "," + n + "], s32[" + sizes + "])", "x",
                type == "f64" ? "dgetrf" : "sgetrf", matrices);
}

// x x' + 1, where x is [70,6,6].
std::string Positive(const std::string& type) {
  const std::string all = type + "[70,6,6]";
  return "  x = " + all + " parameter(0)\n  s = " + all +
         " dot(x, x), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
         "rhs_contracting_dims={2}\n  i = s32[70,6,6] iota(), iota_dimension=1\n"
         "  j = s32[70,6,6] iota(), iota_dimension=2\n"
         "  on = pred[70,6,6] compare(i, j), direction=EQ\n  one = " +
         all + " convert(on)\n  p = " + all + " add(s, one)\n";
}

std::string PotrfOf(const std::string& what, const std::string& side) {
  return "  c = f64[70,6,6]{1,2,0} copy(" + what + ")\n  ROOT r = " +
         Lapack("(f64[70,6,6]{1,2,0}, s32[70])", "c", "dpotrf", "f64[70,6,6]{1,2,0}",
                "{uplo = " + side + " : ui8}");
}

// With e to the x as the matrices, whose triangles are not close to singular.
std::string Solve(const std::string& matrices, const std::string& right,
                  const std::string& options) {
  return "  x = " + matrices + " parameter(0)\n  b = " + right +
         " parameter(1)\n  a = " + matrices + " exponential(x)\n  ROOT y = " + right +
         " triangular-solve(a, b), " + options;
}

}  // namespace

std::vector<Case> Matrices() {
  const std::string by_columns = "{1,2,0}";
  const std::string trsm =
      "{diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}";
  std::vector<Case> cases = {
      {"lu", Whole(Lu("f64", "64", "9", by_columns, "64")), 1,
       "input i0 f64[64,9,9];v0 = lu i0;output v0;", "getrf"},
      {"lu_of_a_batch_of_two_dimensions", Whole(Lu("f32", "5,13", "6", "{2,3,1,0}", "5,13")), 1,
       "input i0 f32[65,6,6];v0 = lu i0;", "getrf"},
      {"lu_of_singular_matrices",
       Program("f32",
               "  x = f32[70,4,4] parameter(0)\n  z = f32[70,4] reduce(x, zero), dimensions={2}, "
               "to_apply=add_of\n  s = f32[70,4,4] broadcast(z), dimensions={0,2}\n"
               "  c = f32[70,4,4]{1,2,0} copy(s)\n  ROOT lu = " +
                   Lapack("(f32[70,4,4]{1,2,0}, s32[70,4], s32[70])", "c", "sgetrf",
                          "f32[70,4,4]{1,2,0}")),
       1, "input i0 f32[70,4,4];v0 = lu i0;", "getrf"},
      {"lu_of_few_matrices", Whole(Lu("f64", "3", "30", by_columns, "3")), 0},
      {"lu_of_large_matrices", Whole(Lu("f64", "8", "65", by_columns, "8")), 0},
      {"lu_of_little", Whole(Lu("f64", "10", "9", by_columns, "10")), 0},
      {"cholesky_of_lapack", Whole(Positive("f64") + PotrfOf("p", "76")), 1,
       "input i0 f64[70,6,6];v0 = cholesky i0;output v0;", "potrf"},
      {"upper_cholesky_of_lapack", Whole(Positive("f64") + PotrfOf("p", "85")), 1,
       "v0 = cholesky i0;", "potrf"},
      {"cholesky_of_xla", Whole(Positive("f32") + "  ROOT r = f32[70,6,6] cholesky(p), lower=true"),
       1, "input i0 f32[70,6,6];v0 = cholesky i0;", "cholesky("},
      {"upper_cholesky_of_xla",
       Whole(Positive("f32") + "  ROOT r = f32[70,6,6] cholesky(p), lower=false"), 1,
       "v0 = cholesky i0;", "cholesky("},
      {"solve",
       Whole(Solve("f64[70,6,6]", "f64[70,6,3]",
                   "left_side=true, lower=true, transpose_a=NO_TRANSPOSE")),
       1, "input i0 f64[70,6,6];input i1 f64[70,6,3];v0 = solve i0 i1 lower=1;output v0;",
       "triangular-solve("},
      {"solve_from_the_right",
       Whole(Solve("f32[2,35,6,6]", "f32[2,35,4,6]",
                   "left_side=false, lower=false, transpose_a=NO_TRANSPOSE")),
       1, "input i0 f32[70,6,6];input i1 f32[70,6,4];v0 = solve i0 i1 transposed=1;",
       "triangular-solve("},
      {"solve_transposed",
       Whole(Solve("f32[70,6,6]", "f32[70,6,4]",
                   "left_side=true, lower=true, transpose_a=TRANSPOSE")),
       1, "v0 = solve i0 i1 lower=1 transposed=1;", "triangular-solve("},
      {"solve_of_lapack",
       Whole("  x = f64[70,6,6] parameter(0)\n  b = f64[70,6,1] parameter(1)\n"
             "  m = f64[70,6,6]{1,2,0} copy(x)\n  c = f64[70,6,1]{1,2,0} copy(b)\n  ROOT y = " +
             Lapack("f64[70,6,1]{1,2,0}", "m, c", "dtrsm", "f64[70,6,6]{1,2,0}, f64[70,6,1]{1,2,0}",
                    trsm)),
       1, "v0 = solve i0 i1 lower=1 unit=1;", "trsm"},
      {"solve_of_many_right_sides",
       Whole(Solve("f32[70,6,6]", "f32[70,6,65]",
                   "left_side=true, lower=true, transpose_a=NO_TRANSPOSE")),
       0},
      {"solve_of_complex_numbers",
       Whole("  a = c64[70,6,6] parameter(0)\n  b = c64[70,6,3] parameter(1)\n"
             "  ROOT y = c64[70,6,3] triangular-solve(a, b), left_side=true, lower=true, "
             "transpose_a=NO_TRANSPOSE"),
       0},
  };
  for (Case& one : cases) one.pass = kMatrixPass;
  return cases;
}

}  // namespace hone::loops
