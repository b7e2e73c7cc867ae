// Programs that put elements in another order.
#include "program_cases.h"

namespace hone::loops {
namespace {

// A comparator of numbers of a type, with as many more arrays of s32 beside them.
std::string Comparator(const std::string& type, const std::string& compared, int beside = 0) {
  std::string text =
      "before {\n  a = " + type + "[] parameter(0)\n  b = " + type + "[] parameter(1)\n";
  for (int k = 2; k < 2 + 2 * beside; ++k) {
    text += "  p" + std::to_string(k) + " = s32[] parameter(" + std::to_string(k) + ")\n";
  }
  return text + compared + "}\n";
}

// As JAX compares floats: one zero, one NaN.
std::string LikeJax(const std::string& type, int beside = 0) {
  std::string text = "  zero = " + type + "[] constant(0)\n  none = " + type + "[] constant(nan)\n";
  for (const std::string x : {"a", "b"}) {
    text += "  is_zero_" + x + " = pred[] compare(" + x + ", zero), direction=EQ\n  z" + x + " = " +
            type + "[] select(is_zero_" + x + ", zero, " + x + ")\n  is_nan_" + x +
            " = pred[] compare(" + x + ", " + x + "), direction=NE\n  n" + x + " = " + type +
            "[] select(is_nan_" + x + ", none, z" + x + ")\n";
  }
  return Comparator(
      type, text + "  ROOT r = pred[] compare(na, nb), direction=LT, type=TOTALORDER\n", beside);
}

std::string Plain(const std::string& type, const std::string& direction, int beside = 0) {
  return Comparator(type, "  ROOT r = pred[] compare(a, b), direction=" + direction + "\n", beside);
}

std::string Sorted(const std::string& comparator, const std::string& array, int dimension = 1) {
  return "HloModule test\n" + comparator + "ENTRY main {\n  x = " + array +
         " parameter(0)\n  ROOT y = " + array + " sort(x), dimensions={" +
         std::to_string(dimension) + "}, is_stable=true, to_apply=before\n}\n";
}

// Positions, sorted along with x; `root` is made of s, the two arrays.
std::string WithPositions(const std::string& comparator, const std::string& type,
                          const std::string& sizes, int dimension, const std::string& root) {
  const std::string x = type + "[" + sizes + "]", i = "s32[" + sizes + "]";
  return "HloModule test\n" + comparator + "ENTRY main {\n  x = " + x +
         " parameter(0)\n  i = " + i + " iota(), iota_dimension=" + std::to_string(dimension) +
         "\n  s = (" + x + ", " + i + ") sort(x, i), dimensions={" + std::to_string(dimension) +
         "}, is_stable=true, to_apply=before\n" + root + "}\n";
}

}  // namespace

std::vector<Case> Transposes() {
  const auto of = [](const std::string& input, const std::string& result,
                     const std::string& dimensions) {
    return Whole("  x = " + input + " parameter(0)\n  ROOT y = " + result +
                 " transpose(x), dimensions={" + dimensions + "}");
  };
  std::vector<Case> cases = {
      {"matrix", of("f32[150,200]", "f32[200,150]", "1,0"), 1,
       "input x f32[150,200];y = transpose x permutation=1,0;", "transpose("},
      {"dimensions_that_stay_together", of("f32[64,40,3,1,3]", "f32[3,3,40,1,64]", "2,4,1,3,0"), 1,
       "input x f32[64,40,9];y = transpose x permutation=2,1,0;", "transpose("},
      {"in_the_middle", of("f32[6,50,8,40]", "f32[6,40,8,50]", "0,3,2,1"), 1,
       "input x f32[6,50,8,40];y = transpose x permutation=0,3,2,1;", "transpose("},
      {"of_bf16", of("bf16[150,200]", "bf16[200,150]", "1,0"), 1, "rounded = to_bf16 y",
       "transpose("},
      {"of_f16", of("f16[150,200]", "f16[200,150]", "1,0"), 1, "rounded = to_f16 y", "transpose("},
      {"of_integers", of("s32[150,200]", "s32[200,150]", "1,0"), 1, "input x s32[150,200];",
       "transpose("},
      {"of_bytes", of("s8[150,200]", "s8[200,150]", "1,0"), 0},
      {"of_complex_numbers", of("c64[150,200]", "c64[200,150]", "1,0"), 0},
      {"where_memory_runs_on", of("f32[60,50,40]", "f32[50,60,40]", "1,0,2"), 0},
      {"small", of("f32[50,60]", "f32[60,50]", "1,0"), 0},
      {"of_few_columns", of("f32[20000,3]", "f32[3,20000]", "1,0"), 0},
      {"for_a_dot",
       Whole("  x = f32[150,200] parameter(0)\n  w = f32[150,64] parameter(1)\n"
             "  t = f32[200,150] transpose(x), dimensions={1,0}\n  ROOT y = f32[200,64] dot(t, w), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       0},
  };
  for (Case& one : cases) one.pass = kTransposePass;
  return cases;
}

std::vector<Case> Sorts() {
  const auto positions = [](const std::string& sizes) {
    return "  ROOT r = s32[" + sizes + "] get-tuple-element(s), index=1\n";
  };
  const auto top = [](const std::string& type, const std::string& size, const std::string& k,
                      const std::string& largest = "true") {
    const std::string some = "[5," + k + "]";
    return Whole("  x = " + type + "[5," + size + "] parameter(0)\n  ROOT t = (" + type + some +
                 ", s32" + some + ") topk(x), k=" + k + ", largest=" + largest);
  };
  std::vector<Case> cases = {
      {"top_of_doubles", top("f64", "300", "7"), 1, "input i0 f64[5,300];v0 = argsort i0;",
       "topk("},
      {"top_of_integers", top("s32", "300", "7"), 1, "input i0 s32[5,300];v0 = argsort i0;",
       "topk("},
      {"most_of_floats", top("f32", "300", "200"), 1, "v0 = argsort i0;", "topk("},
      {"top_of_floats", top("f32", "300", "7"), 0},
      {"top_of_few_rows", top("f64", "30", "7"), 0},
      {"smallest", top("f64", "300", "7", "false"), 0},
      {"of_floats_as_jax_sorts", Sorted(LikeJax("f32"), "f32[5,300]"), 1,
       "input i0 f32[5,300];v0 = sort i0;", "sort("},
      {"of_narrow_floats", Sorted(LikeJax("bf16"), "bf16[5,300]"), 1, "v0 = sort i0;", "sort("},
      {"of_doubles_from_the_largest", Sorted(Plain("f64", "GT"), "f64[5,300]"), 1,
       "input i0 f64[5,300];v0 = sort i0;", "sort("},
      {"along_the_first_dimension", Sorted(LikeJax("f32"), "f32[300,3,2]", 0), 1,
       "input i0 f32[6,300];", "sort("},
      {"of_integers_from_the_largest", Sorted(Plain("s32", "GT"), "s32[5,300]"), 1,
       "input i0 s32[5,300];v0 = sort i0;", "sort("},
      {"of_unsigned_integers", Sorted(Plain("u32", "LT"), "u32[5,300]"), 1,
       "input i0 s32[5,300];v0 = sort i0;", "sort("},
      {"of_unsigned_bytes_from_the_largest", Sorted(Plain("u8", "GT"), "u8[5,300]"), 1,
       "v0 = sort i0;", "sort("},
      {"of_long_integers", Sorted(Plain("s64", "LT"), "s64[5,300]"), 1,
       "input i0 f64[5,300];v0 = argsort i0;", "sort("},
      {"of_long_unsigned_integers_from_the_largest", Sorted(Plain("u64", "GT"), "u64[5,300]"), 1,
       "input i0 f64[5,300];v0 = argsort i0;", "sort("},
      {"positions", WithPositions(LikeJax("f32", 1), "f32", "4,500", 1, positions("4,500")), 1,
       "input i0 f32[4,500];v0 = argsort i0;", "sort("},
      {"positions_of_few_different_numbers",
       WithPositions(Plain("s8", "GT", 1), "s8", "4,500", 1, positions("4,500")), 1,
       "v0 = argsort i0;", "sort("},
      {"positions_along_the_first_dimension",
       WithPositions(LikeJax("f32", 1), "f32", "500,4", 0, positions("500,4")), 1,
       "input i0 f32[4,500];", "sort("},
      {"numbers_and_positions",
       WithPositions(LikeJax("f32", 1), "f32", "4,500", 1,
                     "  a0 = f32[4,500] get-tuple-element(s), index=0\n"
                     "  a1 = s32[4,500] get-tuple-element(s), index=1\n"
                     "  ROOT r = (f32[4,500], s32[4,500]) tuple(a0, a1)\n"),
       1, "v0 = argsort i0;", "sort("},
      {"by_another_function_of_the_numbers",
       Sorted(Comparator("f32",
                         "  c = f32[] abs(a)\n  d = f32[] abs(b)\n"
                         "  ROOT r = pred[] compare(c, d), direction=LT\n"),
              "f32[5,300]"),
       1, "v0 = argsort i0;", "sort("},
      {"by_two_keys",
       WithPositions("before {\n  a = s8[] parameter(0)\n  b = s8[] parameter(1)\n"
                     "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n"
                     "  f = pred[] compare(a, b), direction=LT\n"
                     "  e = pred[] compare(b, a), direction=EQ\n"
                     "  g = pred[] compare(i, j), direction=GT\n"
                     "  n = pred[] and(e, g)\n  ROOT r = pred[] or(f, n)\n}\n",
                     "s8", "4,500", 1, positions("4,500")),
       2, "input i0 s32[4,500];v0 = argsort i0;", "sort("},
      {"by_two_keys_whose_equality_is_of_something_else",
       WithPositions("before {\n  a = s8[] parameter(0)\n  b = s8[] parameter(1)\n"
                     "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n"
                     "  f = pred[] compare(a, b), direction=LT\n"
                     "  e = pred[] compare(i, j), direction=EQ\n"
                     "  g = pred[] compare(i, j), direction=GT\n"
                     "  n = pred[] and(e, g)\n  ROOT r = pred[] or(f, n)\n}\n",
                     "s8", "4,500", 1, positions("4,500")),
       0},
      {"of_few", Sorted(LikeJax("f32"), "f32[100,40]"), 1, "input i0 f32[100,40];v0 = sort i0;",
       "sort("},
      {"of_few_along_the_first_dimension", Sorted(LikeJax("f64"), "f64[21,30,5]", 0), 1,
       "input i0 f64[150,21];v0 = sort i0;", "sort("},
      {"positions_of_few",
       WithPositions(LikeJax("f32", 1), "f32", "200,25", 1, positions("200,25")), 1,
       "input i0 f32[200,25];v0 = argsort i0;", "sort("},
      {"of_few_rows", Sorted(LikeJax("f32"), "f32[15,63]"), 0},
      {"of_complex_numbers_by_their_real_part",
       Sorted(Comparator("c64",
                         "  c = f32[] real(a)\n  d = f32[] real(b)\n"
                         "  ROOT r = pred[] compare(c, d), direction=LT\n"),
              "c64[5,300]"),
       1, "v0 = argsort i0;", "sort("},
      {"by_two_functions",
       Sorted(
           Comparator("f32", "  c = f32[] abs(a)\n  ROOT r = pred[] compare(c, b), direction=LT\n"),
           "f32[5,300]"),
       0},
  };
  for (Case& one : cases) one.pass = kSortPass;
  return cases;
}

}  // namespace hone::loops
