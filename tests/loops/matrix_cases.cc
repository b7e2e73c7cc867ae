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

// The permutation of s32[40,7] that pivots p, of any s32, make, as JAX makes it: a loop over k of
// what `second` writes behind the exchange's first half.
std::string Exchanges(const std::string& second, const std::string& first = "iota") {
  const std::string all = "s32[40,7]";
  const std::string of_row =
      "offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0}, "
      "start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}\n";
  const std::string of_column =
      "offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={1}, index_vector_dim=0, "
      "slice_sizes={40,1}\n";
  const std::string start =
      first == "iota" ? all + " iota(), iota_dimension=1" : all + " parameter(1)";
  return "HloModule test\nset {\n  a = s32[] parameter(0)\n  ROOT b = s32[] parameter(1)\n}\n"
         "body {\n  s = (s64[], " +
         all + ", " + all +
         ") parameter(0)\n"
         "  k = s64[] get-tuple-element(s), index=0\n  order = " +
         all + " get-tuple-element(s), index=1\n  pivots = " + all +
         " get-tuple-element(s), index=2\n  one = s64[] constant(1)\n  next = s64[] add(k, one)\n"
         "  k1 = s64[1] reshape(k)\n  pk = s32[40,1] gather(pivots, k1), " +
         of_column +
         "  p = s32[40] reshape(pk)\n  zero = s32[] constant(0)\n  zeros = s32[40] "
         "broadcast(zero), dimensions={}\n  seven = s32[] constant(7)\n  sevens = s32[40] "
         "broadcast(seven), dimensions={}\n  below = pred[40] compare(p, zeros), direction=LT\n"
         "  up = s32[40] add(p, sevens)\n  q = s32[40] select(below, up, p)\n"
         "  q1 = s32[40,1] reshape(q)\n  yk = s32[40,1] gather(order, q1), " +
         of_row + "  y = s32[40] reshape(yk)\n  xk = s32[40,1] gather(order, k1), " + of_column +
         "  x = s32[40] reshape(xk)\n  half = " + all +
         " scatter(order, k1, y), update_window_dims={0}, inserted_window_dims={1}, "
         "scatter_dims_to_operand_dims={1}, index_vector_dim=0, to_apply=set\n  both = " +
         all + " scatter(half, q1, " + second +
         "), update_window_dims={}, inserted_window_dims={1}, "
         "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
         "scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=set\n"
         "  ROOT t = (s64[], " +
         all + ", " + all +
         ") tuple(next, both, pivots)\n}\n"
         "more {\n  s = (s64[], " +
         all + ", " + all +
         ") parameter(0)\n"
         "  k = s64[] get-tuple-element(s), index=0\n  n = s64[] constant(7)\n"
         "  ROOT l = pred[] compare(k, n), direction=LT\n}\nENTRY main {\n  p = " +
         all + " parameter(0)\n  order = " + start +
         "\n  zero = s64[] constant(0)\n"
         "  from = (s64[], " +
         all + ", " + all +
         ") tuple(zero, order, p)\n"
         "  ROOT w = (s64[], " +
         all + ", " + all + ") while(from), condition=more, body=body\n}\n";
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
      {"exchanges", Exchanges("x"), 1, "input i0 s32[40,7,1];v0 = exchanges i0;output v0;",
       "while("},
      {"exchanges_of_a_given_order", Exchanges("x", "given"), 0},
      {"no_exchanges", Exchanges("y"), 0},
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
