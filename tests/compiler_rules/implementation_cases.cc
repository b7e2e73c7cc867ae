#include "implementation_cases.h"

#include <iterator>
#include <utility>

#include "program_text.h"

namespace hone::compiler {
namespace {

// Of p0, from `start`.
std::string Reduction(const std::string& array, const std::string& result,
                      const std::string& dimensions, const std::string& start,
                      const std::string& opcode) {
  const std::string type = result.substr(0, result.find('['));
  return Entry(array,
               "start = " + type + "[] constant(" + start + ")\n  ROOT r = " + result +
                   " reduce(p0, start), dimensions={" + dimensions + "}, to_apply=combine",
               Binary("combine", type, opcode));
}

// As JAX 0.10 writes it: zeros are equal, NaNs are equal and last.
std::string JaxLess(const std::string& type, bool with_payload) {
  std::string text =
      "less {\n  a = " + type + "[] parameter(0)\n  b = " + type + "[] parameter(1)\n";
  if (with_payload) text += "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n";
  text += "  not_a = " + type + "[] constant(nan)\n  zero = " + type + "[] constant(0)\n";
  for (const std::string x : {"a", "b"}) {
    text += "  ne." + x + " = pred[] compare(" + x + ", " + x + "), direction=NE\n  eq." + x +
            " = pred[] compare(" + x + ", zero), direction=EQ\n  s." + x + " = " + type +
            "[] select(eq." + x + ", zero, " + x + ")\n  t." + x + " = " + type + "[] select(ne." +
            x + ", not_a, s." + x + ")\n";
  }
  return text + "  ROOT less = pred[] compare(t.a, t.b), direction=LT, type=TOTALORDER\n}\n";
}

}  // namespace

std::vector<Case> ImplementationCases() {
  std::vector<Case> cases = WindowCases();
  std::vector<Case> others = {
      {"top_k_in_f32", "bf16",
       Entry("bf16[3,50]", "ROOT t = (bf16[3,4], s32[3,4]) topk(p0), k=4, largest=true")},
      {"top_k_in_f32", "f32 stays",
       Entry("f32[3,50]", "ROOT t = (f32[3,4], s32[3,4]) topk(p0), k=4, largest=true"), false},
      {"top_k_call", "more dimensions",
       Entry("f32[2,3,50]", "ROOT t = (f32[2,3,4], s32[2,3,4]) topk(p0), k=4, largest=true"), true,
       true},
      {"top_k_call", "narrow floats",
       Entry("f16[3,50]", "ROOT t = (f16[3,4], s32[3,4]) topk(p0), k=4, largest=true"), true, true},
      {"top_k_call", "small integers, all of a vector",
       Entry("s16[50]", "ROOT t = (s16[50], s32[50]) topk(p0), k=50, largest=true")},
      {"top_k_call", "integers that f32 rounds",
       Entry("s32[3,50]", "ROOT t = (s32[3,4], s32[3,4]) topk(p0), k=4, largest=true"), false},
      {"top_k_call", "the smallest",
       Entry("f32[3,50]", "ROOT t = (f32[3,4], s32[3,4]) topk(p0), k=4, largest=false"), false},
      {"top_k_rounds", "two of a few, more dimensions",
       Entry("f32[5,3,40]", "ROOT t = (f32[5,3,2], s32[5,3,2]) topk(p0), k=2, largest=true"), true,
       true},
      {"top_k_rounds", "of a prime number",
       Entry("f64[9,37]", "ROOT t = (f64[9,3], s32[9,3]) topk(p0), k=3, largest=true"), true, true},
      {"top_k_rounds", "narrow floats",
       Entry("bf16[9,40]", "ROOT t = (bf16[9,4], s32[9,4]) topk(p0), k=4, largest=true"), true,
       true},
      {"top_k_rounds", "bytes, which are equal, all of them",
       Entry("s8[70,8]", "ROOT t = (s8[70,8], s32[70,8]) topk(p0), k=8, largest=true")},
      {"top_k_rounds", "too many rounds",
       Entry("f32[9,40]", "ROOT t = (f32[9,17], s32[9,17]) topk(p0), k=17, largest=true"), false},
      {"top_k_blocks", "of whole blocks",
       Entry("f32[3,480]", "ROOT t = (f32[3,5], s32[3,5]) topk(p0), k=5, largest=true"), true,
       true},
      {"top_k_blocks", "and a rest",
       Entry("f32[3,487]", "ROOT t = (f32[3,5], s32[3,5]) topk(p0), k=5, largest=true"), true,
       true},
      {"top_k_blocks", "doubles, more dimensions",
       Entry("f64[2,2,300]", "ROOT t = (f64[2,2,2], s32[2,2,2]) topk(p0), k=2, largest=true"), true,
       true},
      {"top_k_blocks", "narrow floats",
       Entry("f16[1000]", "ROOT t = (f16[7], s32[7]) topk(p0), k=7, largest=true"), true, true},
      {"top_k_blocks", "bytes, many of which are equal",
       Entry("u8[2,700]", "ROOT t = (u8[2,3], s32[2,3]) topk(p0), k=3, largest=true")},
      {"top_k_blocks", "too many of all",
       Entry("f32[9,300]", "ROOT t = (f32[9,40], s32[9,40]) topk(p0), k=40, largest=true"), false},
      {"top_k_blocks", "the smallest",
       Entry("f32[3,480]", "ROOT t = (f32[3,5], s32[3,5]) topk(p0), k=5, largest=false"), false},
      {"sort_top_k", "the first few, as JAX sorts",
       Entry("f32[3,40]",
             "s = f32[3,40] sort(p0), dimensions={1}, is_stable=true, to_apply=less\n  ROOT t = "
             "f32[3,5] slice(s), slice={[0:3],[0:5]}",
             JaxLess("f32", false)),
       true, true},
      {"sort_top_k", "the last few, narrow, first dimension",
       Entry("bf16[40,2,3]",
             "s = bf16[40,2,3] sort(p0), dimensions={0}, is_stable=true, to_apply=less\n  ROOT t = "
             "bf16[6,2,3] slice(s), slice={[34:40],[0:2],[0:3]}",
             JaxLess("bf16", false)),
       true, true},
      {"sort_top_k", "descending, without an order of NaNs",
       Entry("f32[3,40]",
             "s = f32[3,40] sort(p0), dimensions={1}, to_apply=more\n  ROOT t = f32[3,5] slice(s), "
             "slice={[0:3],[0:5]}",
             Comparator("more", "f32", "direction=GT"))},
      {"sort_top_k", "descending, the last few",
       Entry("f32[3,40]",
             "s = f32[3,40] sort(p0), dimensions={1}, to_apply=more\n  ROOT t = f32[3,5] slice(s), "
             "slice={[0:3],[35:40]}",
             Comparator("more", "f32", "direction=GT, type=TOTALORDER"))},
      {"sort_top_k", "positions of the first few",
       Entry("f32[3,40]",
             "i = s32[3,40] iota(), iota_dimension=1\n  s = (f32[3,40], s32[3,40]) sort(p0, i), "
             "dimensions={1}, is_stable=true, to_apply=less\n  g = s32[3,40] "
             "get-tuple-element(s), index=1\n  ROOT t = s32[3,5] slice(g), slice={[0:3],[0:5]}",
             JaxLess("f32", true)),
       true, true},
      {"sort_top_k", "positions of the last few",
       Entry("f32[3,40]",
             "i = s32[3,40] iota(), iota_dimension=1\n  s = (f32[3,40], s32[3,40]) sort(p0, i), "
             "dimensions={1}, is_stable=true, to_apply=less\n  g = s32[3,40] "
             "get-tuple-element(s), index=1\n  ROOT t = s32[3,5] slice(g), slice={[0:3],[35:40]}",
             JaxLess("f32", true)),
       false},
      {"sort_top_k", "too many",
       Entry("f32[3,40]",
             "s = f32[3,40] sort(p0), dimensions={1}, is_stable=true, to_apply=less\n  ROOT t = "
             "f32[3,11] slice(s), slice={[0:3],[0:11]}",
             JaxLess("f32", false)),
       false},
      {"sort_top_k", "by another function",
       Entry(
           "f32[3,40]",
           "s = f32[3,40] sort(p0), dimensions={1}, to_apply=less\n  ROOT t = f32[3,5] slice(s), "
           "slice={[0:3],[0:5]}",
           "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] abs(a)\n  d = "
           "f32[] abs(b)\n  ROOT e = pred[] compare(c, d), direction=LT\n}\n"),
       false},
      {"sort_packed_keys", "bf16 as JAX sorts",
       Entry("bf16[3,33]",
             "ROOT s = bf16[3,33] sort(p0), dimensions={1}, is_stable=true, to_apply=less",
             JaxLess("bf16", false)),
       true, true},
      {"sort_packed_keys", "f32 argsort, first dimension",
       Entry("f32[17,3]",
             "i = s32[17,3] iota(), iota_dimension=0\n  s = (f32[17,3], s32[17,3]) sort(p0, i), "
             "dimensions={0}, is_stable=true, to_apply=less\n  ROOT g = s32[17,3] "
             "get-tuple-element(s), index=1",
             JaxLess("f32", true)),
       true, true},
      {"sort_packed_keys", "bf16 with positions, both used",
       Entry("bf16[3,40]",
             "i = s32[40] iota(), iota_dimension=0\n  j = s32[3,40] broadcast(i), dimensions={1}\n"
             "  ROOT s = (bf16[3,40], s32[3,40]) sort(p0, j), dimensions={1}, is_stable=true, "
             "to_apply=less",
             JaxLess("bf16", true)),
       true, true},
      {"sort_packed_keys", "signed integers, descending",
       Entry("s16[2,9]",
             "ROOT s = s16[2,9] sort(p0), dimensions={1}, is_stable=true, to_apply=more",
             Comparator("more", "s16", "direction=GT")),
       true, true},
      {"sort_packed_keys", "parameters the other way round",
       Entry("s16[2,9]",
             "ROOT s = s16[2,9] sort(p0), dimensions={1}, is_stable=true, to_apply=more",
             "more {\n  a = s16[] parameter(0)\n  b = s16[] parameter(1)\n  ROOT c = pred[] "
             "compare(b, a), direction=LT\n}\n"),
       true, true},
      {"sort_packed_keys", "values that do not fit in",
       Entry("f32[2,9]",
             "ROOT s = f32[2,9] sort(p0), dimensions={1}, is_stable=true, to_apply=less",
             JaxLess("f32", false)),
       true, true},
      {"sort_packed_keys", "values that nobody looks at",
       Entry("f32[9]",
             "i = s32[9] iota(), iota_dimension=0\n  s = (f32[9], s32[9]) sort(p0, i), "
             "dimensions={0}, is_stable=true, to_apply=less\n  dead = f32[9] "
             "get-tuple-element(s), index=0\n  ROOT g = s32[9] get-tuple-element(s), index=1",
             JaxLess("f32", true)),
       true, true},
      {"sort_packed_keys", "another array beside it, first dimension",
       Entry("f32[11,3];s32[11,3]",
             "ROOT s = (f32[11,3], s32[11,3]) sort(p0, p1), dimensions={0}, is_stable=true, "
             "to_apply=less",
             JaxLess("f32", true)),
       true, true},
      {"sort_packed_keys", "truth values with positions, both used",
       Entry("pred[5,7]",
             "i = s32[5,7] iota(), iota_dimension=1\n  ROOT s = (pred[5,7], s32[5,7]) sort(p0, i), "
             "dimensions={1}, is_stable=true, to_apply=less",
             "less {\n  a = pred[] parameter(0)\n  b = pred[] parameter(1)\n  c = s32[] "
             "parameter(2)\n  d = s32[] parameter(3)\n  ROOT l = pred[] compare(a, b), "
             "direction=LT\n}\n")},
      {"sort_packed_keys", "truth values, the true ones first, with others",
       Entry("pred[9,3];f32[9,3]",
             "ROOT s = (pred[9,3], f32[9,3]) sort(p0, p1), dimensions={0}, is_stable=true, "
             "to_apply=more",
             "more {\n  a = pred[] parameter(0)\n  b = pred[] parameter(1)\n  c = f32[] "
             "parameter(2)\n  d = f32[] parameter(3)\n  i = s32[] convert(a)\n  j = s32[] "
             "convert(b)\n  ROOT l = pred[] compare(i, j), direction=GT\n}\n")},
      {"sort_packed_keys", "too wide",
       Entry("f64[2,9]",
             "ROOT s = f64[2,9] sort(p0), dimensions={1}, is_stable=true, to_apply=less",
             JaxLess("f64", false)),
       false},
      {"sort_packed_keys", "different functions of the two",
       Entry("s16[2,9]", "ROOT s = s16[2,9] sort(p0), dimensions={1}, to_apply=less",
             "less {\n  a = s16[] parameter(0)\n  b = s16[] parameter(1)\n  n = s16[] negate(b)\n"
             "  ROOT c = pred[] compare(a, n), direction=LT\n}\n"),
       false},
      // Its other cases are in tests/compiler_custom_calls, where LAPACK is.
      {"write_out_small", "a sort of a few",
       Entry("f32[5,3]",
             "ROOT s = f32[5,3] sort(p0), dimensions={0}, is_stable=true, to_apply=less",
             JaxLess("f32", false)),
       true, true},
      {"argmax_two_reduces", "f32, ties and NaNs",
       Entry("f32[6,9]",
             "i = s32[6,9] iota(), iota_dimension=1\n  low = f32[] constant(-inf)\n  zero = s32[] "
             "constant(0)\n  ROOT r = (f32[6], s32[6]) reduce(p0, i, low, zero), dimensions={1}, "
             "to_apply=argmax",
             Argmax("f32", "GT")),
       true, true},
      {"argmax_two_reduces", "argmin, first dimension",
       Entry("f32[9,4]",
             "i = s32[9,4] iota(), iota_dimension=0\n  high = f32[] constant(inf)\n  zero = s32[] "
             "constant(0)\n  ROOT r = (f32[4], s32[4]) reduce(p0, i, high, zero), dimensions={0}, "
             "to_apply=argmax",
             Argmax("f32", "LT")),
       true, true},
      {"argmax_two_reduces", "of all elements, ties and NaNs",
       Entry("f32[3,7,17]",
             "x = f32[357] reshape(p0)\n  i = s32[357] iota(), iota_dimension=0\n"
             "  low = f32[] constant(-inf)\n  zero = s32[] constant(0)\n"
             "  ROOT r = (f32[], s32[]) reduce(x, i, low, zero), dimensions={0}, "
             "to_apply=argmax",
             Argmax("f32", "GT")),
       true, true},
      {"argmax_two_reduces", "of all elements of bf16, the least",
       Entry("bf16[3,7,17]",
             "x = bf16[357] reshape(p0)\n  i = s32[357] iota(), iota_dimension=0\n"
             "  low = bf16[] constant(inf)\n  zero = s32[] constant(0)\n"
             "  ROOT r = (bf16[], s32[]) reduce(x, i, low, zero), dimensions={0}, "
             "to_apply=argmax",
             Argmax("bf16", "LT"))},
      {"argmax_two_reduces", "of all bytes",
       Entry("s8[3,7,17]",
             "x = s8[357] reshape(p0)\n  i = s32[357] iota(), iota_dimension=0\n"
             "  low = s8[] constant(-128)\n  zero = s32[] constant(0)\n"
             "  ROOT r = (s8[], s32[]) reduce(x, i, low, zero), dimensions={0}, "
             "to_apply=argmax",
             Argmax("s8", "GT"))},
      {"argmax_two_reduces", "the first that is true, or that is not",
       Entry("pred[60,3]",
             "i = s32[60,3] iota(), iota_dimension=1\n  low = pred[] constant(false)\n  "
             "zero = s32[] constant(0)\n  high = pred[] constant(true)\n  "
             "a = (pred[60], s32[60]) reduce(p0, i, low, zero), dimensions={1}, to_apply=argmax\n"
             "  b = (pred[60], s32[60]) reduce(p0, i, high, zero), dimensions={1}, "
             "to_apply=argmin\n  a0 = pred[60] get-tuple-element(a), index=0\n"
             "  a1 = s32[60] get-tuple-element(a), index=1\n"
             "  b0 = pred[60] get-tuple-element(b), index=0\n"
             "  b1 = s32[60] get-tuple-element(b), index=1\n"
             "  ROOT t = (pred[60], s32[60], pred[60], s32[60]) tuple(a0, a1, b0, b1)",
             Argmax("pred", "GT") + "argmin" + Argmax("pred", "LT").substr(6))},
      {"argmax_two_reduces", "bytes",
       Entry("u8[6,9]",
             "i = s32[6,9] iota(), iota_dimension=1\n  low = u8[] constant(0)\n  zero = s32[] "
             "constant(0)\n  ROOT r = (u8[6], s32[6]) reduce(p0, i, low, zero), dimensions={1}, "
             "to_apply=argmax",
             Argmax("u8", "GT"))},
      {"argmax_two_reduces", "last position wins",
       Entry("f32[6,9]",
             "i = s32[6,9] iota(), iota_dimension=1\n  low = f32[] constant(-inf)\n  zero = s32[] "
             "constant(0)\n  ROOT r = (f32[6], s32[6]) reduce(p0, i, low, zero), dimensions={1}, "
             "to_apply=argmax",
             Argmax("f32", "GE")),
       false},
      {"concatenate_once", "a shift that goes round",
       Entry("f32[16,32]",
             "a = f32[16,31] slice(p0), slice={[0:16], [1:32]}\n  b = f32[16,1] slice(p0), "
             "slice={[0:16], [0:1]}\n  c = f32[16,32] concatenate(a, b), dimensions={1}\n  ROOT d "
             "= f32[16,32] subtract(p0, c)"),
       true, true},
      {"concatenate_once", "parts of several arrays, some twice",
       Entry("s8[64];s8[300]",
             "a = s8[100] slice(p1), slice={[0:300:3]}\n  c = s8[528] concatenate(p0, a, p1, "
             "p0), dimensions={0}\n  ROOT d = s8[528] add(c, c)"),
       true, true},
      {"concatenate_once", "an edge, within and a little cut off",
       Entry("bf16[20,30];bf16[]",
             "a = bf16[20,30] negate(p0)\n  c = bf16[24,57] pad(a, p1), padding=3_1x-1_-1_1\n"
             "  ROOT d = bf16[24,57] multiply(c, c)"),
       true, true},
      {"concatenate_once", "large, which is shared out",
       Entry("f64[300,400]",
             "z = f64[] constant(0)\n  c = f64[302,402] pad(p0, z), padding=1_1x1_1\n  a = "
             "f64[300,400] slice(c), slice={[0:300], [1:401]}\n  b = f64[300,400] slice(c), "
             "slice={[2:302], [1:401]}\n  ROOT d = f64[300,400] subtract(a, b)"),
       true, true},
      {"concatenate_once", "what a function returns",
       Entry("f32[16,16]",
             "a = f32[18,16] call(p0), to_apply=edge\n  ROOT b = f32[18,16] negate(a)",
             "edge {\n  x = f32[16,16] parameter(0)\n  one = f32[] constant(1)\n  ROOT p = "
             "f32[18,16] pad(x, one), padding=1_1x0_0\n}\n"),
       true, true},
      {"concatenate_once", "padded with a constant that a loop begins with",
       Entry(
           "s32[24,32]",
           "z = s32[] constant(0)\n  c = s32[25,33] pad(p0, z), padding=1_0x1_0\n  d = s32[25,33] "
           "negate(c)\n  t = (s32[], s32[25,33], s32[25,33]) tuple(z, c, d)\n  ROOT w = (s32[], "
           "s32[25,33], s32[25,33]) while(t), condition=few, body=twice",
           "twice {\n  s = (s32[], s32[25,33], s32[25,33]) parameter(0)\n  i = s32[] "
           "get-tuple-element(s), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x "
           "= s32[25,33] get-tuple-element(s), index=1\n  y = s32[25,33] add(x, x)\n  v = "
           "s32[25,33] get-tuple-element(s), index=2\n  ROOT o = (s32[], s32[25,33], s32[25,33]) "
           "tuple(j, y, v)\n}\nfew {\n  s = (s32[], s32[25,33], s32[25,33]) parameter(0)\n  i = "
           "s32[] get-tuple-element(s), index=0\n  n = s32[] constant(5)\n  ROOT l = pred[] "
           "compare(i, n), direction=LT\n}\n")},
      {"concatenate_once", "padded with what a function is given",
       Entry("f32[16,16]",
             "one = f32[] constant(1)\n  a = f32[18,16] call(p0, one), to_apply=edge\n  ROOT b = "
             "f32[18,16] negate(a)",
             "edge {\n  x = f32[16,16] parameter(0)\n  y = f32[] parameter(1)\n  ROOT p = "
             "f32[18,16] pad(x, y), padding=1_1x0_0\n}\n"),
       false},
      {"concatenate_once", "few",
       Entry("f32[16]",
             "c = f32[32] concatenate(p0, p0), dimensions={0}\n  ROOT d = f32[32] negate(c)"),
       false},
      {"concatenate_once", "read from memory in any case",
       Entry("f32[16,16];f32[16,16]",
             "c = f32[32,16] concatenate(p0, p1), dimensions={0}\n  ROOT d = f32[32,32] dot(c, "
             "c), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
       false},
      {"dot_in_f32", "batched",
       Entry("bf16[3,4,5];bf16[3,5,2]",
             "ROOT d = bf16[3,4,2] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}")},
      {"dot_of_small_integers_in_f32", "of truth values counted",
       Entry("pred[9,40];pred[40,7]",
             "x = s32[9,40] convert(p0)\n  y = s32[40,7] convert(p1)\n  ROOT d = s32[9,7] dot(x, "
             "y), lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"dot_of_small_integers_in_f32", "of truth values",
       Entry("pred[3,9,4];pred[3,4,7]",
             "ROOT d = pred[3,9,7] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}")},
      {"dot_of_small_integers_in_f32", "of bytes by truth values, in 64 bits",
       Entry("s8[9,40];pred[40,7]",
             "x = s64[9,40] convert(p0)\n  y = s64[40,7] convert(p1)\n  ROOT d = s64[9,7] dot(x, "
             "y), lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"dot_of_small_integers_in_f32", "bytes that are taken for large",
       Entry("s8[9,40];u8[40,7]",
             "x = u32[9,40] convert(p0)\n  y = u32[40,7] convert(p1)\n  ROOT d = u32[9,7] dot(x, "
             "y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"dot_of_small_integers_in_f32", "sums that it does not have",
       Entry("u8[2,300];u8[300,2]",
             "x = s32[2,300] convert(p0)\n  y = s32[300,2] convert(p1)\n  ROOT d = s32[2,2] dot(x, "
             "y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"dot_of_small_integers_in_f32", "of bytes, as a library has it",
       Entry("s8[9,40];s8[40,7]",
             "ROOT d = s32[9,7] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"dot_of_small_integers_in_f32", "of bytes, as large numbers",
       Entry("s8[9,40];s8[40,7]",
             "ROOT d = u32[9,7] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"batched_dot_reduce", "dimensions in any order",
       Entry("f32[5,9,4,2];f32[9,5,3,2]",
             "ROOT d = f32[9,2,4,3] dot(p0, p1), lhs_batch_dims={1,3}, rhs_batch_dims={0,3}, "
             "lhs_contracting_dims={0}, rhs_contracting_dims={1}")},
      {"reduce_dot_ones", "last dimension", Reduction("f32[48,3,40]", "f32[48,3]", "2", "0", "add"),
       true, true},
      {"reduce_dot_ones", "last two, in any order, narrow, from a start of their own",
       Reduction("bf16[20,6,48]", "bf16[20]", "2,1", "3", "add")},
      {"reduce_dot_ones", "everything", Reduction("f32[48,96]", "f32[]", "0,1", "2", "add")},
      {"reduce_dot_ones", "first dimension", Reduction("f32[48,96]", "f32[96]", "0", "0", "add"),
       false},
      {"reduce_dot_ones", "integers", Reduction("s32[48,96]", "s32[48]", "1", "0", "add"), false},
      {"reduce_slices", "maximum, with a rest",
       Reduction("f32[5,1031]", "f32[5]", "1", "-inf", "maximum"), true, true},
      {"reduce_slices", "sum over the first dimensions, narrow",
       Reduction("bf16[3,64,24]", "bf16[24]", "0,1", "1", "add")},
      {"reduce_slices", "integers", Reduction("s32[64,64]", "s32[64]", "0", "5", "add")},
      {"reduce_slices", "short", Reduction("f32[512,16]", "f32[512]", "1", "0", "add"), false},
      {"reduce_slices", "nothing", Reduction("f32[64,96]", "f32[64,96]", "", "0", "add"), false},
      {"thin_dot_sum", "many rows by a small matrix",
       Entry("f32[50,3];f32[3,3]",
             "ROOT d = f32[50,3] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"thin_dot_sum", "batched, narrow, dimensions in another order",
       Entry("bf16[4,7,2,5];bf16[2,6,4]",
             "ROOT d = bf16[2,7,5,6] dot(p0, p1), lhs_batch_dims={2}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={0}, rhs_contracting_dims={2}")},
      {"thin_dot_sum", "two vectors of integers",
       Entry("s32[4];s32[4]",
             "ROOT d = s32[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}")},
      {"thin_dot_sum", "many terms",
       Entry("f32[5,9];f32[9,3]",
             "ROOT d = f32[5,3] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"dot_of_transposes", "matrix and vector",
       Entry("f32[6,4];f32[6]",
             "t = f32[4,6] transpose(p0), dimensions={1,0}\n  ROOT d = f32[4] dot(t, p1), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"dot_of_transposes", "both, batched",
       Entry("f32[5,3,4];f32[2,3,5]",
             "t = f32[3,4,5] transpose(p0), dimensions={1,2,0}\n"
             "  u = f32[3,5,2] transpose(p1), dimensions={1,2,0}\n"
             "  ROOT d = f32[3,4,2] dot(t, u), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}")},
      {"dot_of_transposes", "what is kept changes its order",
       Entry("f32[2,3,4];f32[4]",
             "t = f32[3,2,4] transpose(p0), dimensions={1,0,2}\n  ROOT d = f32[3,2] dot(t, p1), "
             "lhs_contracting_dims={2}, rhs_contracting_dims={0}"),
       false},
      {"dot_scaled_after", "weights",
       Entry("f32[3,4];s8[4,5];f32[5]",
             "w = f32[4,5] convert(p1)\n  b = f32[4,5] broadcast(p2), dimensions={1}\n"
             "  s = f32[4,5] multiply(w, b)\n  ROOT d = f32[3,5] dot(p0, s), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"dot_scaled_after", "batches, from the left, scaled by two dimensions",
       Entry("u8[6,2,4];f32[2,4,5];f32[2,6]",
             "w = f32[6,2,4] convert(p0)\n  b = f32[6,2,4] broadcast(p2), dimensions={1,0}\n"
             "  s = f32[6,2,4] multiply(b, w)\n  ROOT d = f32[2,6,5] dot(s, p1), "
             "lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
             "rhs_contracting_dims={1}")},
      {"dot_scaled_after", "all alike",
       Entry("f32[3,4];s8[5,4];f32[]",
             "w = f32[5,4] convert(p1)\n  b = f32[5,4] broadcast(p2), dimensions={}\n"
             "  s = f32[5,4] multiply(w, b)\n  ROOT d = f32[3,5] dot(p0, s), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={1}")},
      {"dot_scaled_after", "by terms",
       Entry("f32[3,4];s8[4,5];f32[4]",
             "w = f32[4,5] convert(p1)\n  b = f32[4,5] broadcast(p2), dimensions={0}\n"
             "  s = f32[4,5] multiply(w, b)\n  ROOT d = f32[3,5] dot(p0, s), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"dot_scaled_after", "scaled for others too",
       Entry("f32[3,4];s8[4,5];f32[5]",
             "w = f32[4,5] convert(p1)\n  b = f32[4,5] broadcast(p2), dimensions={1}\n"
             "  s = f32[4,5] multiply(w, b)\n  d = f32[3,5] dot(p0, s), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
             "  ROOT t = (f32[3,5], f32[4,5]) tuple(d, s)"),
       false},
      {"complex_dot_parts", "batched",
       Entry("f32[3,16,20];f32[3,16,20];f32[3,20,8];f32[3,20,8]",
             "x = c64[3,16,20] complex(p0, p1)\n  c = c64[3,20,8] complex(p2, p3)\n"
             "  y = c64[3,20,8] negate(c)\n  d = c64[3,16,8] dot(x, y), lhs_batch_dims={0}, "
             "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
             "  a = f32[3,16,8] real(d)\n  b = f32[3,16,8] imag(d)\n"
             "  ROOT t = (f32[3,16,8], f32[3,16,8]) tuple(a, b)")},
      {"complex_dot_parts", "with real numbers",
       Entry("f64[60,40];f64[60,40];f32[60]",
             "x = c128[60,40] complex(p0, p1)\n  y = c128[60] convert(p2)\n"
             "  d = c128[40] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
             "  a = f64[40] real(d)\n  b = f64[40] imag(d)\n  ROOT t = (f64[40], f64[40]) tuple(a, "
             "b)")},
      {"complex_dot_parts", "real numbers alone",
       Entry("f32[60,40];f32[60]",
             "zero = f32[] constant(0)\n  z = f32[60,40] broadcast(zero), dimensions={}\n"
             "  x = c64[60,40] complex(p0, z)\n  y = c64[60] convert(p1)\n"
             "  d = c64[40] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
             "  a = f32[40] real(d)\n  b = f32[40] imag(d)\n  ROOT t = (f32[40], f32[40]) tuple(a, "
             "b)")},
      {"complex_dot_parts", "few products",
       Entry("c64[6,4];c64[6]",
             "ROOT d = c64[4] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
       false},
      {"complex_dot_parts", "no complex numbers",
       Entry("f32[60,40];f32[60]",
             "ROOT d = f32[40] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
       false},
      {"fft_of_reals", "one dimension, an odd length",
       Entry("f32[3,15]",
             "c = c64[3,15] convert(p0)\n  f = c64[3,15] fft(c), fft_type=FFT, fft_length={15}\n"
             "  r = f32[3,15] real(f)\n  i = f32[3,15] imag(f)\n"
             "  ROOT t = (f32[3,15], f32[3,15]) tuple(r, i)")},
      {"fft_of_reals", "over three dimensions",
       Entry("f32[5,6,1,8]",
             "n = f32[] constant(0)\n  z = f32[5,6,1,8] broadcast(n), dimensions={}\n"
             "  c = c64[5,6,1,8] complex(p0, z)\n"
             "  f = c64[5,6,1,8] fft(c), fft_type=FFT, fft_length={6,1,8}\n"
             "  r = f32[5,6,1,8] real(f)\n  i = f32[5,6,1,8] imag(f)\n"
             "  ROOT t = (f32[5,6,1,8], f32[5,6,1,8]) tuple(r, i)")},
      {"fft_of_reals", "inverse of which the real part is wanted",
       Entry("c64[9,10]",
             "f = c64[9,10] fft(p0), fft_type=IFFT, fft_length={9,10}\n"
             "  ROOT r = f32[9,10] real(f)")},
      {"fft_of_reals", "filtered by a complex array, a real one and numbers",
       Entry("f32[2,12,16];f32[12,16];c64[12,16];c64[]",
             "c = c64[2,12,16] convert(p0)\n"
             "  f = c64[2,12,16] fft(c), fft_type=FFT, fft_length={12,16}\n"
             "  k = c64[12,16] convert(p1)\n  q = c64[12,16] multiply(k, p2)\n"
             "  b = c64[2,12,16] broadcast(q), dimensions={1,2}\n"
             "  s = c64[2,12,16] broadcast(p3), dimensions={}\n"
             "  n0 = c64[] constant((0, 1))\n  n = c64[2,12,16] broadcast(n0), dimensions={}\n"
             "  m0 = c64[] constant((2, 0))\n  m = c64[2,12,16] broadcast(m0), dimensions={}\n"
             "  fb = c64[2,12,16] multiply(f, b)\n  fm = c64[2,12,16] subtract(fb, m)\n"
             "  fn = c64[2,12,16] multiply(fm, n)\n  fs = c64[2,12,16] add(fn, s)\n"
             "  g = c64[2,12,16] negate(fs)\n"
             "  i = c64[2,12,16] fft(g), fft_type=IFFT, fft_length={12,16}\n"
             "  ROOT r = f32[2,12,16] real(i)")},
      {"fft_of_reals", "convolution of real arrays",
       Entry("f32[64];f32[64]",
             "a = c64[64] convert(p0)\n  fa = c64[64] fft(a), fft_type=FFT, fft_length={64}\n"
             "  b = c64[64] convert(p1)\n  fb = c64[64] fft(b), fft_type=FFT, fft_length={64}\n"
             "  m = c64[64] multiply(fa, fb)\n"
             "  i = c64[64] fft(m), fft_type=IFFT, fft_length={64}\n  ROOT r = f32[64] real(i)")},
      {"fft_of_reals", "of complex numbers",
       Entry("c64[64]", "ROOT f = c64[64] fft(p0), fft_type=FFT, fft_length={64}"), false},
      {"fft_of_reals", "inverse whose imaginary part is wanted too",
       Entry("c64[64]",
             "f = c64[64] fft(p0), fft_type=IFFT, fft_length={64}\n  r = f32[64] real(f)\n"
             "  i = f32[64] imag(f)\n  ROOT t = (f32[64], f32[64]) tuple(r, i)"),
       false},
      {"dot_swapped", "matrix and vector",
       Entry("f32[6,4];f32[6]",
             "ROOT d = f32[4] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}")},
      {"dot_swapped", "vector and matrix",
       Entry("f32[6];f32[6,4]",
             "ROOT d = f32[4] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
       false},
      {"dot_swapped", "batched",
       Entry("f32[3,4,5];f32[3,5,2]",
             "ROOT d = f32[3,4,2] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}")},
      {"dot_swapped", "already",
       Entry("f32[4,5];f32[5,2]",
             "d = f32[4,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  ROOT "
             "t = "
             "f32[2,4] transpose(d), dimensions={1,0}"),
       false},
      {"function_formulas", "logarithm of doubles",
       Entry("f64[3,40]", "ROOT r = f64[3,40] log(p0)"), true, true},
      {"function_formulas", "needed by several, behind a sum",
       Entry("f64[3,40]",
             "l = f64[3,40] log(p0)\n  s = f64[3,40] add(l, p0)\n  a = f64[3,40] sine(s)\n"
             "  ROOT t = (f64[3,40], f64[3,40]) tuple(a, s)"),
       true, true},
      {"function_formulas", "angle of narrow floats",
       Entry("bf16[40];bf16[40]", "ROOT r = bf16[40] atan2(p0, p1)"), true, true},
      {"function_formulas", "powers of floats",
       Entry("f32[40];f32[40]", "ROOT r = f32[40] power(p0, p1)"), true, true},
      {"function_formulas", "softplus of floats",
       Entry("f32[40]",
             "a = f32[40] abs(p0)\n  n = f32[40] negate(a)\n  e = f32[40] exponential(n)\n"
             "  ROOT r = f32[40] log-plus-one(e)"),
       true, true},
      {"function_formulas", "softplus of narrow floats",
       Entry("bf16[40]",
             "a = bf16[40] abs(p0)\n  n = bf16[40] negate(a)\n  e = bf16[40] exponential(n)\n"
             "  ROOT r = bf16[40] log-plus-one(e)")},
      {"function_formulas", "logarithm of more than one",
       Entry("f32[40]", "e = f32[40] exponential(p0)\n  ROOT r = f32[40] log-plus-one(e)"), false},
      {"function_formulas", "logarithm of floats", Entry("f32[40]", "ROOT r = f32[40] log(p0)"),
       false},
      {"function_formulas", "logarithm of complex numbers",
       Entry("c128[40]", "ROOT r = c128[40] log(p0)"), false},
      {"function_formulas", "one number", Entry("f64[]", "ROOT r = f64[] log(p0)"), false},
      {"function_formulas", "powers of integers",
       Entry("s32[40];s32[40]", "ROOT r = s32[40] power(p0, p1)"), false},
      {"periodic_formulas", "narrow floats", Entry("f16[20,30]", "ROOT r = f16[20,30] tan(p0)")},
      {"periodic_formulas", "not finite", Entry("f64[300]", "ROOT r = f64[300] cosine(p0)"), true,
       true},
      {"periodic_formulas", "exponential of complex numbers",
       Entry("f32[300];f32[300]",
             "z = c64[300] complex(p0, p1)\n  e = c64[300] exponential(z)\n  a = f32[300] "
             "real(e)\n  b = f32[300] imag(e)\n  ROOT t = (f32[300], f32[300]) tuple(a, b)")},
      {"periodic_formulas", "exponential of floats",
       Entry("f64[300]", "ROOT r = f64[300] exponential(p0)"), false},
      {"periodic_formulas", "few", Entry("f32[40]", "ROOT r = f32[40] sine(p0)"), false},
  };
  std::move(others.begin(), others.end(), std::back_inserter(cases));
  for (std::vector<Case> more :
       {LoopCases(), LoopDotCases(), LookupCases(), ShapeCases(), ComponentCases(), FormulaCases(),
        KnownCases(), BatchCases(), BlockCases(), ContractionCases(), SolveCases(),
        RecurrenceCases()}) {
    std::move(more.begin(), more.end(), std::back_inserter(cases));
  }
  return cases;
}

}  // namespace hone::compiler
