#include "implementation_cases.h"

#include <algorithm>

namespace hone::compiler {
namespace {

// What most cases are: one instruction of parameters.
std::string Entry(const std::string& parameters, const std::string& root,
                  const std::string& before = "") {
  std::string text = "HloModule test\n" + before + "\nENTRY main {\n";
  size_t begin = 0;
  for (int k = 0; begin < parameters.size(); ++k) {
    const size_t end = std::min(parameters.find(';', begin), parameters.size());
    const std::string name = "p" + std::to_string(k);
    text += "  " + name + " = " + parameters.substr(begin, end - begin) + " parameter(" +
            std::to_string(k) + ")\n";
    begin = end + 1;
  }
  return text + "  " + root + "\n}\n";
}

std::string Binary(const std::string& name, const std::string& type, const std::string& opcode) {
  return name + " {\n  a = " + type + "[] parameter(0)\n  b = " + type +
         "[] parameter(1)\n  ROOT c = " + type + "[] " + opcode + "(a, b)\n}\n";
}

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

std::string Comparator(const std::string& name, const std::string& type, const std::string& how) {
  return name + " {\n  a = " + type + "[] parameter(0)\n  b = " + type +
         "[] parameter(1)\n  ROOT c = pred[] compare(a, b), " + how + "\n}\n";
}

// log(exp(a) + exp(b)), as JAX's cumlogsumexp combines.
const char* const kLogAddExp =
    "both {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  d = f32[] subtract(a, b)\n"
    "  n = pred[] compare(d, d), direction=NE\n  s = f32[] add(a, b)\n"
    "  m = f32[] maximum(a, b)\n  p = f32[] abs(d)\n  q = f32[] negate(p)\n"
    "  e = f32[] exponential(q)\n  l = f32[] log-plus-one(e)\n  t = f32[] add(m, l)\n"
    "  ROOT r = f32[] select(n, s, t)\n}\n";

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

std::string Argmax(const std::string& type, const std::string& how) {
  return "argmax {\n  v0 = " + type + "[] parameter(0)\n  i0 = s32[] parameter(1)\n  v1 = " + type +
         "[] parameter(2)\n  i1 = s32[] parameter(3)\n  better = pred[] compare(v0, v1), "
         "direction=" +
         how +
         "\n  ne = pred[] compare(v0, v0), direction=NE\n  first = pred[] or(better, ne)\n"
         "  v = " +
         type +
         "[] select(first, v0, v1)\n"
         "  eq = pred[] compare(v0, v1), direction=EQ\n"
         "  lower = pred[] compare(i0, i1), direction=LT\n  both = pred[] and(eq, lower)\n"
         "  pick = pred[] or(first, both)\n  i = s32[] select(pick, i0, i1)\n"
         "  ROOT t = (" +
         type + "[], s32[]) tuple(v, i)\n}\n";
}

}  // namespace

std::vector<Case> ImplementationCases() {
  const std::string add = Binary("add", "f32", "add"), max = Binary("max", "f32", "maximum");
  const auto window = [](const std::string& parameters, const std::string& shape,
                         const std::string& init, const std::string& window_text,
                         const std::string& reducer, const std::string& text) {
    const std::string type = shape.substr(0, shape.find('['));
    return Entry(parameters,
                 "init = " + type + "[] constant(" + init + ")\n  ROOT r = " + shape +
                     " reduce-window(p0, init), window={" + window_text + "}, to_apply=" + reducer,
                 text);
  };
  const auto conv = [](const std::string& parameters, const std::string& shape,
                       const std::string& rest) {
    return Entry(parameters, "ROOT r = " + shape + " convolution(p0, p1), " + rest);
  };
  const auto sas = [](const std::string& type, const std::string& how, const std::string& in,
                      const std::string& out, const std::string& window_text) {
    return Entry(type + in + ";" + type + out,
                 "init = " + type + "[] constant(0)\n  ROOT r = " + type + in +
                     " select-and-scatter(p0, p1, init), window={" + window_text +
                     "}, select=pick, scatter=add",
                 Comparator("pick", type, "direction=" + how) + Binary("add", type, "add"));
  };
  const std::string nhwc = "dim_labels=b01f_01io->b01f", nchw = "dim_labels=bf01_oi01->bf01";
  return {
      {"depthwise_shifts", "plain",
       conv("f32[2,7,6,5];f32[3,3,1,5]", "f32[2,7,6,5]",
            "window={size=3x3 pad=1_1x1_1}, " + nhwc + ", feature_group_count=5")},
      {"depthwise_shifts", "strided, channels first",
       conv("f32[2,4,9,8];f32[4,1,3,2]", "f32[2,4,4,4]",
            "window={size=3x2 stride=2x2}, " + nchw + ", feature_group_count=4")},
      {"depthwise_shifts", "multiplier, dilated window, uneven padding",
       conv("f32[1,9,8,3];f32[3,2,1,6]", "f32[1,7,7,6]",
            "window={size=3x2 pad=2_0x0_1 rhs_dilate=2x2}, " + nhwc + ", feature_group_count=3")},
      {"depthwise_shifts", "input gradient of stride 2",
       conv("f32[2,4,4,3];f32[3,3,1,3]", "f32[2,8,8,3]",
            "window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2 rhs_reversal=1x1}, " + nhwc +
                ", feature_group_count=3")},
      {"depthwise_shifts", "input gradient of stride 3 and 1, odd size",
       conv("f32[2,3,5,3];f32[2,3,1,3]", "f32[2,9,5,3]",
            "window={size=2x3 pad=2_1x1_1 lhs_dilate=3x1}, " + nhwc + ", feature_group_count=3")},
      {"depthwise_shifts", "bf16, one spatial dimension, negative padding",
       conv("bf16[2,9,4];bf16[3,1,4]", "bf16[2,6,4]",
            "window={size=3 pad=-1_0}, dim_labels=b0f_0io->b0f, feature_group_count=4")},
      {"depthwise_shifts", "grouped only",
       conv("f32[2,7,6,4];f32[3,3,2,4]", "f32[2,7,6,4]",
            "window={size=3x3 pad=1_1x1_1}, " + nhwc + ", feature_group_count=2"),
       false},
      {"depthwise_kernel_gradient_shifts", "plain",
       conv("f32[2,7,6,5];f32[2,7,6,5]", "f32[3,3,1,5]",
            "window={size=7x6 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf, batch_group_count=5")},
      {"depthwise_kernel_gradient_shifts", "of stride 2",
       conv("f32[2,8,8,3];f32[2,4,4,3]", "f32[3,3,1,3]",
            "window={size=4x4 pad=0_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf, "
            "batch_group_count=3")},
      {"depthwise_kernel_gradient_shifts", "multiplier, channels first",
       conv("f32[2,3,6,6];f32[2,6,4,4]", "f32[6,1,3,3]",
            "window={size=4x4}, dim_labels=fb01_io01->fb01, batch_group_count=3")},
      {"pointwise_dot", "strided",
       conv("f32[2,7,6,5];f32[1,1,5,4]", "f32[2,4,3,4]", "window={size=1x1 stride=2x2}, " + nhwc)},
      {"pointwise_dot", "groups, channels first",
       conv("f32[2,6,3,4];f32[4,3,1,1]", "f32[2,4,3,4]",
            "window={size=1x1}, " + nchw + ", feature_group_count=2")},
      {"convolution_shifted_dots", "dense",
       conv("f32[2,7,6,5];f32[3,2,5,4]", "f32[2,4,3,4]",
            "window={size=3x2 stride=2x2 pad=1_1x0_1}, " + nhwc)},
      {"convolution_shifted_dots", "groups, reversed, both dilated",
       conv("f32[2,4,5,4];f32[2,3,2,6]", "f32[2,5,5,6]",
            "window={size=2x3 pad=0_0x0_0 lhs_dilate=2x2 rhs_dilate=2x2 rhs_reversal=1x0}, " +
                nhwc + ", feature_group_count=2")},
      {"convolution_patches_dot", "dense, channels first",
       conv("f32[2,3,7,6];f32[4,3,3,3]", "f32[2,4,4,3]",
            "window={size=3x3 stride=2x2 pad=1_1x1_1}, " + nchw)},
      {"convolution_output_dots", "kernel gradient",
       conv("f32[2,8,8,3];f32[2,8,8,4]", "f32[3,3,3,4]",
            "window={size=8x8 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf")},
      {"convolution_output_dots", "of stride 2, input batch and features kept apart",
       conv("f32[2,9,9,3];f32[2,4,5,4]", "f32[3,1,3,4]",
            "window={size=4x5 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf")},
      {"convolution_output_dots", "kernel gradient of a transposed convolution",
       conv("f32[2,5,6,3];f32[2,10,12,4]", "f32[4,4,3,4]",
            "window={size=10x12 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=f01b_i01o->01bf")},
      {"convolution_output_dots", "positions that see nothing but padding or zeros",
       conv(
           "f32[2,3,3,3];f32[2,9,8,4]", "f32[3,4,3,4]",
           "window={size=9x8 stride=6x1 pad=12_6x8_0 lhs_dilate=2x1}, dim_labels=f01b_i01o->01bf")},
      {"convolution_in_f32", "bf16",
       conv("bf16[2,5,5,3];bf16[3,3,3,4]", "bf16[2,3,3,4]", "window={size=3x3}, " + nhwc)},
      {"convolution_in_f32", "f32 stays",
       conv("f32[2,5,5,3];f32[3,3,3,4]", "f32[2,3,3,4]", "window={size=3x3}, " + nhwc), false},
      {"reduce_window_shifts", "max-pool",
       window("f32[2,7,8,3]", "f32[2,4,4,3]", "-inf",
              "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_0x0_0", "max", max),
       true, true},
      {"reduce_window_shifts", "sum, dilated, start of its own",
       window("f32[5,6]", "f32[7,4]", "1.5", "size=2x3 pad=1_0x0_0 lhs_dilate=2x1 rhs_dilate=3x1",
              "add", add)},
      {"reduce_window_shifts", "bf16 sum",
       window("bf16[4,9]", "bf16[4,5]", "0", "size=1x3 stride=1x2 pad=0_0x1_1", "add",
              Binary("add", "bf16", "add"))},
      {"reduce_window_shifts", "many taps, each dimension with steps, padding and gaps of its own",
       window("f32[9,14,3]", "f32[8,6,2]", "0.5",
              "size=5x7x2 stride=1x2x1 pad=2_1x1_2x0_0 lhs_dilate=1x1x1 rhs_dilate=1x1x1", "add",
              add)},
      {"reduce_window_shifts", "integers",
       window("s32[9]", "s32[7]", "0", "size=3", "add", Binary("add", "s32", "add"))},
      {"reduce_window_reduce", "average pool with a rest",
       window("f32[2,7,6,3]", "f32[2,2,3,3]", "0", "size=1x3x2x1 stride=1x3x2x1", "add", add)},
      {"reduce_window_reduce", "overlapping",
       window("f32[9]", "f32[4]", "0", "size=3 stride=2", "add", add), false},
      {"cumulative_steps", "sum",
       window("f32[3,11]", "f32[3,11]", "0", "size=1x11 pad=0_0x10_0", "add", add)},
      {"cumulative_steps", "maximum, backward",
       window("f32[8,3]", "f32[8,3]", "-inf", "size=8x1 pad=0_7x0_0", "max", max), true, true},
      {"cumulative_steps", "integers with a start",
       window("s32[5]", "s32[5]", "7", "size=5 pad=4_0", "add", Binary("add", "s32", "add"))},
      {"cumulative_steps", "bf16",
       window("bf16[2,40]", "bf16[2,40]", "0", "size=1x40 pad=0_0x39_0", "add",
              Binary("add", "bf16", "add"))},
      {"cumulative_steps", "logarithms of running sums of exponentials",
       window("f32[3,11]", "f32[3,11]", "-inf", "size=1x11 pad=0_0x10_0", "both", kLogAddExp)},
      {"cumulative_steps", "the same from behind",
       window("f32[8,3]", "f32[8,3]", "-inf", "size=8x1 pad=0_7x0_0", "both", kLogAddExp)},
      {"cumulative_steps", "with a start that changes something",
       window("f32[3,11]", "f32[3,11]", "0", "size=1x11 pad=0_0x10_0", "both", kLogAddExp), false},
      {"cumulative_steps", "a window, not a running sum",
       window("f32[9]", "f32[9]", "0", "size=3 pad=2_0", "add", add), false},
      {"cumulative_dots", "of converted integers",
       Entry("s32[3,150]",
             "c = f32[3,150] convert(p0)\n  init = f32[] constant(0)\n  ROOT r = f32[3,150] "
             "reduce-window(c, init), window={size=1x150 pad=0_0x149_0}, to_apply=add",
             add)},
      {"cumulative_dots", "backward, first dimension",
       Entry("s32[130,2]",
             "c = f32[130,2] convert(p0)\n  init = f32[] constant(2)\n  ROOT r = f32[130,2] "
             "reduce-window(c, init), window={size=130x1 pad=0_129x0_0}, to_apply=add",
             add)},
      {"cumulative_dots", "what may be infinite",
       window("f32[3,11]", "f32[3,11]", "0", "size=1x11 pad=0_0x10_0", "add", add), false},
      {"select_and_scatter_shifts", "overlapping, ties and NaNs",
       sas("f32", "GE", "[2,9,7,3]", "[2,4,3,3]", "size=1x3x3x1 stride=1x2x2x1"), true, true},
      {"select_and_scatter_shifts", "with gaps and a rest",
       sas("f32", "GE", "[8,9]", "[3,3]", "size=2x1 stride=3x3"), true, true},
      {"select_and_scatter_shifts", "last wins, strides differ",
       sas("f32", "GT", "[6,9]", "[4,4]", "size=3x3 stride=1x2"), true, true},
      {"select_and_scatter_shifts", "integers",
       sas("s32", "GE", "[6,6]", "[3,3]", "size=2x2 stride=2x2"), true, true},
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
      {"argmax_two_reduces", "last position wins",
       Entry("f32[6,9]",
             "i = s32[6,9] iota(), iota_dimension=1\n  low = f32[] constant(-inf)\n  zero = s32[] "
             "constant(0)\n  ROOT r = (f32[6], s32[6]) reduce(p0, i, low, zero), dimensions={1}, "
             "to_apply=argmax",
             Argmax("f32", "GE")),
       false},
      {"unroll_short_loop", "three trips",
       Entry(
           "f32[4]",
           "zero = s32[] constant(0)\n  t = (s32[], f32[4]) tuple(zero, p0)\n  ROOT w = (s32[], "
           "f32[4]) while(t), condition=condition, body=body",
           "body {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
           "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = f32[4] "
           "get-tuple-element(t), index=1\n  y = f32[4] cosine(x)\n  ROOT u = (s32[], f32[4]) "
           "tuple(j, y)\n}\ncondition {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] "
           "get-tuple-element(t), index=0\n  three = s32[] constant(3)\n  ROOT c = pred[] "
           "compare(i, three), direction=LT\n}\n")},
      {"loop_one_kernel", "with a loop inside of it",
       Entry(
           "f32[4]",
           "zero = s32[] constant(0)\n  t = (s32[], f32[4]) tuple(zero, p0)\n  ROOT w = (s32[], "
           "f32[4]) while(t), condition=condition, body=outer",
           "body {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
           "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = f32[4] "
           "get-tuple-element(t), index=1\n  y = f32[4] cosine(x)\n  ROOT u = (s32[], f32[4]) "
           "tuple(j, y)\n}\ncondition {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] "
           "get-tuple-element(t), index=0\n  three = s32[] constant(3)\n  ROOT c = pred[] "
           "compare(i, three), direction=LT\n}\n"
           "outer {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), "
           "index=0\n"
           "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = f32[4] "
           "get-tuple-element(t), index=1\n  zero = s32[] constant(0)\n  s = (s32[], f32[4]) "
           "tuple(zero, x)\n  w = (s32[], f32[4]) while(s), condition=condition, body=body\n"
           "  y = f32[4] get-tuple-element(w), index=1\n  ROOT u = (s32[], f32[4]) tuple(j, y)\n"
           "}\n")},
      {"loop_one_kernel", "a sort in it",
       Entry(
           "f32[4]",
           "zero = s32[] constant(0)\n  t = (s32[], f32[4]) tuple(zero, p0)\n  ROOT w = (s32[], "
           "f32[4]) while(t), condition=condition, body=body",
           Comparator("less", "f32", "direction=LT") +
               "body {\n  t = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), "
               "index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = f32[4] "
               "get-tuple-element(t), index=1\n  y = f32[4] sort(x), dimensions={0}, "
               "to_apply=less\n  ROOT u = (s32[], f32[4]) tuple(j, y)\n}\ncondition {\n  t = "
               "(s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  three = "
               "s32[] constant(3)\n  ROOT c = pred[] compare(i, three), direction=LT\n}\n"),
       false},
      {"dot_in_f32", "batched",
       Entry("bf16[3,4,5];bf16[3,5,2]",
             "ROOT d = bf16[3,4,2] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}")},
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
  };
}

}  // namespace hone::compiler
