// Convolutions, and whatever else runs over windows.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// log(exp(a) + exp(b)), as JAX's cumlogsumexp combines.
const char* const kLogAddExp =
    "both {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  d = f32[] subtract(a, b)\n"
    "  n = pred[] compare(d, d), direction=NE\n  s = f32[] add(a, b)\n"
    "  m = f32[] maximum(a, b)\n  p = f32[] abs(d)\n  q = f32[] negate(p)\n"
    "  e = f32[] exponential(q)\n  l = f32[] log-plus-one(e)\n  t = f32[] add(m, l)\n"
    "  ROOT r = f32[] select(n, s, t)\n}\n";

// p0 [12,40] with its elements from `from` on first.
std::string Roll(const std::string& name, int dimension, int from, const std::string& of = "p0") {
  const int size = dimension == 0 ? 12 : 40;
  const auto piece = [&](const std::string& part, int begin, int end) {
    const std::string range = "[" + std::to_string(begin) + ":" + std::to_string(end) + "]";
    const std::string length = std::to_string(end - begin);
    return "  " + name + part + " = f32[" + (dimension == 0 ? length + ",40" : "12," + length) +
           "] slice(" + of + "), slice={" +
           (dimension == 0 ? range + ", [0:40]" : "[0:12], " + range) + "}\n";
  };
  return piece("a", from, size) + piece("b", 0, from) + "  " + name + " = f32[12,40] concatenate(" +
         name + "a, " + name + "b), dimensions={" + std::to_string(dimension) + "}\n";
}

}  // namespace

std::vector<Case> WindowCases() {
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
      {"rolls_from_edges", "both ways along the last dimension",
       Entry("f32[12,40]",
             Roll("l", 1, 1) + Roll("r", 1, 38) + "  ROOT s = f32[12,40] subtract(l, r)"),
       true, true},
      {"rolls_from_edges", "along both, of what is rolled already",
       Entry("f32[12,40]", Roll("l", 0, 1) + Roll("r", 0, 2) + Roll("u", 1, 39, "l") +
                               Roll("v", 1, 4, "l") +
                               "  s = f32[12,40] subtract(u, r)\n"
                               "  ROOT t = f32[12,40] multiply(s, v)"),
       true, true},
      {"rolls_from_edges", "edges that are there",
       Entry("f32[12,40]",
             "a = f32[12,2] slice(p0), slice={[0:12], [38:40]}\n"
             "  c = f32[12,42] concatenate(a, p0), dimensions={1}\n"
             "  ROOT n = f32[12,42] negate(c)"),
       true, true},
      {"rolls_from_edges", "one alone",
       Entry("f32[12,40]", Roll("l", 1, 1) + "  ROOT s = f32[12,40] subtract(l, p0)"), false},
      {"rolls_from_edges", "far",
       Entry("f32[12,40]",
             Roll("l", 1, 18) + Roll("r", 1, 1) + "  ROOT s = f32[12,40] subtract(l, r)"),
       false},
      {"rolls_from_edges", "other parts",
       Entry("f32[12,40]",
             "a = f32[12,39] slice(p0), slice={[0:12], [0:39]}\n"
             "  b = f32[12,1] slice(p0), slice={[0:12], [0:1]}\n"
             "  c = f32[12,40] concatenate(a, b), dimensions={1}\n"
             "  d = f32[12,38] slice(p0), slice={[0:12], [1:39]}\n"
             "  e = f32[12,40] concatenate(d, b, b), dimensions={1}\n"
             "  ROOT s = f32[12,40] subtract(c, e)"),
       false},
      {"convolution_of_small_integers_in_f32", "bytes, in groups",
       conv("s8[2,9,8,6];u8[3,3,3,4]", "s32[2,9,8,4]",
            "window={size=3x3 pad=1_1x1_1}, " + nhwc + ", feature_group_count=2")},
      {"convolution_of_small_integers_in_f32", "sums that it does not have",
       conv("u8[1,5,5,40];u8[3,3,40,4]", "s32[1,3,3,4]", "window={size=3x3}, " + nhwc), false},
      {"convolution_banded_dot", "a signal, turned round",
       conv("f32[3,1,100];f32[1,1,11]", "f32[3,1,110]",
            "window={size=11 pad=10_10 rhs_reversal=1}, dim_labels=bf0_oi0->bf0")},
      {"convolution_banded_dot", "more taps than outputs are together",
       conv("f64[1,90,1];f64[1,70,1]", "f64[1,81,1]",
            "window={size=70 pad=30_30}, dim_labels=b0f_o0i->b0f")},
      {"convolution_banded_dot", "images, most taps across lines, another order",
       conv("bf16[40,2,50,1];bf16[9,1,3,1]", "bf16[2,40,50,1]",
            "window={size=9x3 pad=4_4x1_1 rhs_reversal=1x0}, dim_labels=0b1f_0i1o->b01f")},
      {"convolution_banded_dot", "few taps",
       conv("f32[3,1,100];f32[1,1,5]", "f32[3,1,96]", "window={size=5}, dim_labels=bf0_oi0->bf0"),
       false},
      {"convolution_banded_dot", "strided",
       conv("f32[3,1,100];f32[1,1,11]", "f32[3,1,45]",
            "window={size=11 stride=2}, dim_labels=bf0_oi0->bf0"),
       false},
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
      {"depthwise_shifts", "of one feature",
       conv("f64[2,7,6,1];f64[3,3,1,1]", "f64[2,7,6,1]", "window={size=3x3 pad=1_1x1_1}, " + nhwc)},
      {"depthwise_shifts", "of one feature to two, channels first, reversed",
       conv("f32[2,1,9,8];f32[2,1,3,2]", "f32[2,2,9,8]",
            "window={size=3x2 pad=1_1x1_0 rhs_reversal=1x1}, " + nchw)},
      {"depthwise_shifts", "of one feature to many",
       conv("f32[2,7,6,1];f32[3,3,1,32]", "f32[2,7,6,32]",
            "window={size=3x3 pad=1_1x1_1}, " + nhwc),
       false},
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
      {"convolution_output_dots", "kernel gradient of few features a group",
       conv("f32[2,12,12,8];f32[2,6,6,12]", "f32[3,3,2,12]",
            "window={size=6x6 pad=0_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf, "
            "batch_group_count=4")},
      {"convolution_output_dots", "kernel gradient of groups for several blocks, channels first",
       conv("bf16[1,96,8];bf16[1,144,8]", "bf16[144,32,3]",
            "window={size=8 pad=1_1}, dim_labels=fb0_io0->fb0, batch_group_count=3")},
      {"convolution_output_dots", "dilated gradient of groups",
       conv("f32[2,4,4,8];f32[2,8,8,12]", "f32[3,3,2,12]",
            "window={size=8x8 pad=1_2x1_2 lhs_dilate=2x2}, dim_labels=f01b_i01o->01bf, "
            "batch_group_count=4"),
       false},
      {"convolution_by_groups", "strided",
       conv("f32[2,7,6,16];f32[3,2,8,24]", "f32[2,4,3,24]",
            "window={size=3x2 stride=2x2 pad=1_1x0_1}, " + nhwc + ", feature_group_count=2")},
      {"convolution_by_groups", "kernel gradient, channels first",
       conv("f32[2,24,6,6];f32[2,48,4,4]", "f32[48,8,3,3]",
            "window={size=4x4}, dim_labels=fb01_io01->fb01, batch_group_count=3")},
      {"convolution_by_groups", "few features",
       conv("f32[2,7,6,8];f32[3,3,4,8]", "f32[2,5,4,8]",
            "window={size=3x3}, " + nhwc + ", feature_group_count=2"),
       false},
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
  };
}

}  // namespace hone::compiler
