// Convolutions, also of each feature by itself.
#include "program_cases.h"

namespace hone::loops {
namespace {

// A convolution, as the whole program.
std::string Convolution(const std::string& input, const std::string& kernel,
                        const std::string& result, const std::string& attributes) {
  return Whole("  x = " + input + " parameter(0)\n  w = " + kernel +
               " parameter(1)\n  ROOT y = " + result + " convolution(x, w), " + attributes);
}

// One of a 9 by 10 image whose kernel is transposed, from outputs first to outputs last.
std::string OutputsFirst(const std::string& input, const std::string& kernel,
                         const std::string& transposed, const std::string& window) {
  const std::string result = "f32[1,9,10," + kernel.substr(4, 2) + "]";
  return Whole("  x = " + input + " parameter(0)\n  w = " + kernel + " parameter(1)\n  t = " +
               transposed + " transpose(w), dimensions={2,3,1,0}\n  ROOT y = " + result +
               " convolution(x, t), window={size=" + window + "}, dim_labels=b01f_01io->b01f");
}

std::vector<Case> DepthwiseConvolutions() {
  const std::string behind =
      "  x = f32[1,19,20,24] parameter(0)\n  v = f32[24,1,3,3] parameter(1)\n"
      "  w = f32[3,3,1,24] transpose(v), dimensions={2,3,1,0}\n"
      "  y = f32[1,19,20,24] convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
      "dim_labels=b01f_01io->b01f, feature_group_count=24\n";
  std::vector<Case> cases = {
      {"depthwise",
       Convolution(
           "f32[2,9,10,40]", "f32[3,3,1,40]", "f32[2,9,10,40]",
           "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=40"),
       1, "y = depthwise x w sizes=9,10 strides=1,1 dilations=1,1 pads=1,1;", "transpose("},
      {"depthwise_with_what_follows",  // as JAX writes a network's batch norm and relu6
       Program("f32", behind + "  g = f32[24] parameter(2)\n  b = f32[24] parameter(3)\n"
                               "  h = f32[1,19,20,24] parameter(4)\n"
                               "  gs = f32[1,19,20,24] broadcast(g), dimensions={3}\n"
                               "  bs = f32[1,19,20,24] broadcast(b), dimensions={3}\n"
                               "  s = f32[1,19,20,24] multiply(y, gs)\n"
                               "  u = f32[1,19,20,24] add(s, bs)\n"
                               "  z = f32[1,19,20,24] broadcast(zero), dimensions={}\n"
                               "  k = s32[] constant(6)\n  six = f32[] convert(k)\n"
                               "  c = f32[1,19,20,24] broadcast(six), dimensions={}\n"
                               "  m = f32[1,19,20,24] maximum(u, z)\n"
                               "  n = f32[1,19,20,24] minimum(c, m)\n"
                               "  ROOT r = f32[1,19,20,24] add(n, h)\n"),
       1, "t := transpose w permutation=1,2,0;y := depthwise x t sizes=19,20", "transpose("},
      {"depthwise_strided_and_dilated",
       Convolution("f64[2,19,40,18]", "f64[3,2,1,18]", "f64[2,9,36,18]",
                   "window={size=3x2 stride=2x1 pad=1_0x0_-1 rhs_dilate=1x3}, "
                   "dim_labels=b01f_01io->b01f, feature_group_count=18"),
       1, "sizes=9,36 strides=2,1 dilations=1,3 pads=1,0;"},
      {"depthwise_of_features_first",
       Convolution("f32[2,16,19,20]", "f32[16,1,3,3]", "f32[2,16,10,10]",
                   "window={size=3x3 stride=2x2 pad=1_1x0_1}, dim_labels=bf01_oi01->bf01, "
                   "feature_group_count=16"),
       1, "t := transpose w permutation=1,2,0;"},
      {"depthwise_of_narrow_floats",  // and rounded within the kernel
       Convolution("bf16[2,150,24]", "bf16[4,1,24]", "bf16[2,150,24]",
                   "window={size=4 pad=3_0}, dim_labels=b0f_0io->b0f, feature_group_count=24"),
       1, "y := depthwise x w sizes=150 strides=1 dilations=1 pads=3;rounded = to_bf16 y;"},
      {"depthwise_of_three_dimensions",
       Convolution("f32[1,6,7,8,16]", "f32[2,3,3,1,16]", "f32[1,5,7,8,16]",
                   "window={size=2x3x3 pad=0_0x1_1x1_1}, dim_labels=b012f_012io->b012f, "
                   "feature_group_count=16"),
       1, "sizes=5,7,8"},
      {"depthwise_with_several_outputs_for_each_feature",
       Convolution("f32[1,19,20,8]", "f32[3,3,1,24]", "f32[1,19,20,24]",
                   "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, "
                   "feature_group_count=8"),
       1, "input x f32[1,19,20,24]"},
      {"depthwise_with_a_kernel_that_is_reversed",  // the gradient of an input
       Whole("  x = f32[2,9,10,24] parameter(0)\n"
             "  w = f32[3,2,1,24] parameter(1)\n"
             "  v = f32[3,2,1,24] reverse(w), dimensions={0,1}\n"
             "  ROOT y = f32[2,9,9,24] convolution(x, v), window={size=3x2 pad=1_1x0_0}, "
             "dim_labels=b01f_01io->b01f, feature_group_count=24"),
       1, "dilations=-1,-1 pads=-1,-1;", "reverse("},
      {"depthwise_that_goes_the_other_way_round",
       Convolution("f32[2,9,10,24]", "f32[3,3,24,1]", "f32[2,9,10,24]",
                   "window={size=3x3 pad=1_1x1_1 rhs_reversal=1x1}, "
                   "dim_labels=b01f_01oi->b01f, feature_group_count=24"),
       1, "dilations=-1,-1"},
      {"depthwise_for_a_strided_inputs_gradient",
       Convolution("f32[2,19,20,24]", "f32[3,3,1,24]", "f32[2,38,40,24]",
                   "window={size=3x3 pad=2_1x1_2 lhs_dilate=2x2}, "
                   "dim_labels=b01f_01io->b01f, feature_group_count=24"),
       0},
      {"depthwise_with_images_last",
       Convolution("f32[24,9,10,32]", "f32[3,3,1,24]", "f32[32,9,10,24]",
                   "window={size=3x3 pad=1_1x1_1}, dim_labels=f01b_01io->b01f, "
                   "feature_group_count=24"),
       1},
      {"depthwise_for_a_kernels_gradient",  // that of a batch for each feature
       Convolution("f32[2,9,10,24]", "f32[2,9,10,24]", "f32[3,3,1,24]",
                   "window={size=9x10 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf, "
                   "batch_group_count=24"),
       0},
      {"depthwise_in_larger_groups",
       Convolution("f32[2,19,20,32]", "f32[3,3,2,32]", "f32[2,17,18,32]",
                   "window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=16"),
       1, "sizes=1,17,18 strides=1,1,1 dilations=1,1,1 pads=0,0,0;"},
      {"depthwise_in_groups_of_features_first",
       Convolution("bf16[2,12,19,20]", "bf16[24,4,3,2]", "bf16[2,24,10,21]",
                   "window={size=3x2 stride=2x1 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, "
                   "feature_group_count=3"),
       1, "sizes=1,10,21 strides=1,2,1 dilations=1,1,1 pads=0,1,1;"},
      {"depthwise_in_groups_reversed",  // the gradient of an input
       Whole("  x = f64[2,60,24] parameter(0)\n  w = f64[5,4,18] parameter(1)\n"
             "  v = f64[5,4,18] reverse(w), dimensions={0}\n"
             "  ROOT y = f64[2,60,18] convolution(x, v), window={size=5 pad=2_2}, "
             "dim_labels=b0f_0io->b0f, feature_group_count=6"),
       1, "dilations=1,-1 pads=0,-2;", "reverse("},
      {"depthwise_in_groups_of_many",
       Convolution("f32[2,19,20,32]", "f32[3,3,16,32]", "f32[2,17,18,32]",
                   "window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=2"),
       0},
      {"depthwise_of_very_few_features",
       Convolution("f32[2,90,91,3]", "f32[3,3,1,3]", "f32[2,88,89,3]",
                   "window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=3"),
       0},
  };
  for (Case& one : cases) one.pass = kDepthwisePass;
  return cases;
}

}  // namespace

std::vector<Case> Convolutions() {
  const std::string three = "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f";
  const std::string behind =
      "  x = f32[1,9,10,16] parameter(0)\n  w = f32[3,3,16,24] parameter(1)\n"
      "  y = f32[1,9,10,24] convolution(x, w), " +
      three + "\n";
  std::vector<Case> cases = {
      {"convolution_with_a_bias_and_an_activation",
       Program("f32", behind + "  b = f32[24] parameter(2)\n"
                               "  c = f32[1,9,10,24] broadcast(b), dimensions={3}\n"
                               "  s = f32[1,9,10,24] add(y, c)\n"
                               "  z = f32[1,9,10,24] broadcast(zero), dimensions={}\n"
                               "  ROOT r = f32[1,9,10,24] maximum(s, z)\n"),
       1, "v0 := broadcast i0 sizes=1,9,10,24 dimensions=3;v1 := add y v0;"},
      {"convolution_with_a_residual_and_its_sign",
       Program("f32", behind + "  h = f32[1,9,10,24] parameter(2)\n"
                               "  s = f32[1,9,10,24] add(h, y)\n"
                               "  z = f32[1,9,10,24] broadcast(zero), dimensions={}\n"
                               "  m = f32[1,9,10,24] maximum(s, z)\n"
                               "  p = pred[1,9,10,24] compare(s, z), direction=GT\n"
                               "  ROOT r = (f32[1,9,10,24], pred[1,9,10,24]) tuple(m, p)\n"),
       1, "v0 := add i0 y;"},
      // It becomes another, with what follows.
      {"convolution_of_few_features_with_an_activation",
       Program("f32",
               "  x = f32[1,9,30,3] parameter(0)\n  w = f32[3,8,3,24] parameter(1)\n"
               "  y = f32[1,7,23,24] convolution(x, w), window={size=3x8}, "
               "dim_labels=b01f_01io->b01f\n  ROOT t = f32[1,7,23,24] tanh(y)\n"),
       1, "strides=1,3 dilations=1,1 pads=0,0;v0 = tanh y;"},
      {"convolution_of_few_features_with_a_kernel_that_is_reversed",  // taps, not features
       Program("f32",
               "  x = f32[2,32,30,3] parameter(0)\n  v = f32[4,4,32,3] parameter(1)\n"
               "  w = f32[4,4,32,3] reverse(v), dimensions={0,1}\n"
               "  y = f32[2,16,15,32] convolution(x, w), window={size=4x4 stride=2x2 pad=1_1x1_1}, "
               "dim_labels=b01f_01oi->b01f\n  ROOT t = f32[2,16,15,32] tanh(y)\n"),
       1, "strides=2,6 dilations=1,1 pads=0,0;v0 = tanh y;"},
      {"convolution_of_an_image_with_a_bias",
       Program("f32",
               "  x = f32[2,33,30,3] parameter(0)\n  v = f32[32,3,3,3] parameter(1)\n"
               "  w = f32[3,3,3,32] transpose(v), dimensions={2,3,1,0}\n"
               "  y = f32[2,17,15,32] convolution(x, w), window={size=3x3 stride=2x2 pad=1_1x1_1}, "
               "dim_labels=b01f_01io->b01f\n  b = f32[32] parameter(2)\n"
               "  c = f32[2,17,15,32] broadcast(b), dimensions={3}\n"
               "  ROOT s = f32[2,17,15,32] add(y, c)\n"),
       1, "strides=2,6 dilations=1,1 pads=0,0;v0 := broadcast i0 sizes=2,17,15,32 dimensions=3;"},
      {"convolution",
       Convolution("f32[2,9,10,16]", "f32[3,3,16,24]", "f32[2,9,10,24]",
                   "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
       1, "y = convolve x w sizes=9,10 strides=1,1 dilations=1,1 pads=1,1;", "transpose("},
      {"convolution_of_features_first",
       Convolution("f32[2,16,9,10]", "f32[64,16,3,3]", "f32[2,64,4,5]",
                   "window={size=3x3 stride=2x2 pad=0_0x1_1}, dim_labels=bf01_oi01->bf01"),
       1, "strides=2,2", ":= transpose"},
      // As PyTorch has its weights: at a point they lie as a product takes them, few taps are read
      // in runs with their features, and what else there is becomes a transposition's kernel.
      {"convolution_of_transposed_weights_at_a_point",
       OutputsFirst("f32[1,9,10,32]", "f32[96,32,1,1]", "f32[1,1,32,96]", "1x1"), 1,
       "input w f32[96,32,1,1];wt := transpose w permutation=2,3,1,0;", "transpose("},
      {"convolution_of_transposed_weights",
       OutputsFirst("f32[1,9,10,32]", "f32[48,32,3,3]", "f32[3,3,32,48]", "3x3 pad=1_1x1_1"), 1,
       "input w f32[48,32,3,3];wt := transpose w permutation=2,3,1,0;", "transpose("},
      {"convolution_of_transposed_weights_of_odd_features",
       OutputsFirst("f32[1,9,10,40]", "f32[64,40,3,3]", "f32[3,3,40,64]", "3x3 pad=1_1x1_1"), 2,
       "input x f32[64,40,9];y = transpose x permutation=2,1,0;", "transpose("},
      {"convolution_to_few_features",
       Convolution("f32[2,40,50,16]", "f32[3,3,16,3]", "f32[2,40,50,3]",
                   "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
       1, "y = convolve x w sizes=40,50 strides=1,1 dilations=1,1 pads=1,1;"},
      {"convolution_of_a_volume_to_few_features",
       Convolution("f32[1,9,10,11,8]", "f32[3,3,3,8,12]", "f32[1,9,10,11,12]",
                   "window={size=3x3x3 pad=1_1x1_1x1_1}, dim_labels=b012f_012io->b012f"),
       1, "y = convolve x w sizes=9,10,"},
      {"convolution_to_one_feature",
       Convolution("f32[2,40,50,32]", "f32[3,3,32,1]", "f32[2,40,50,1]",
                   "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
       0, ""},
      {"convolution_of_narrow_floats",
       Convolution("bf16[2,9,10,16]", "bf16[3,3,16,40]", "bf16[2,9,10,40]",
                   "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
       1, "input x bf16"},
      {"convolution_of_doubles",
       Convolution("f64[4,50,16]", "f64[5,16,40]", "f64[4,42,40]",
                   "window={size=5 rhs_dilate=2}, dim_labels=b0f_0io->b0f"),
       1, "input x f64"},
      {"convolution_of_three_dimensions",
       Convolution("f32[2,5,6,7,16]", "f32[3,2,2,16,32]", "f32[2,5,5,8,32]",
                   "window={size=3x2x2 pad=1_1x0_0x1_1}, dim_labels=b012f_012io->b012f"),
       1, "sizes=5,5,8"},
      {"convolution_that_goes_the_other_way_round",
       Convolution("f32[2,9,10,24]", "f32[3,3,16,24]", "f32[2,9,10,16]",
                   "window={size=3x3 pad=1_1x1_1 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f"),
       1, "dilations=-1,-1 pads=-1,-1"},
      {"convolution_with_a_kernel_that_is_reversed",
       Whole("  x = f32[2,9,10,24] parameter(0)\n"
             "  w = f32[3,3,16,24] parameter(1)\n"
             "  v = f32[3,3,16,24] reverse(w), dimensions={0,1}\n"
             "  ROOT y = f32[2,9,10,16] convolution(x, v), window={size=3x3 pad=1_1x1_1}, "
             "dim_labels=b01f_01oi->b01f"),
       1, "wt := transpose w permutation=0,1,3,2;", "reverse("},
      {"convolution_with_a_kernel_that_is_transposed",  // and lies as it was
       Whole("  x = f32[2,19,10,32] parameter(0)\n"
             "  v = f32[40,32,1,1] parameter(1)\n"
             "  w = f32[1,1,32,40] transpose(v), dimensions={2,3,1,0}\n"
             "  ROOT y = f32[2,19,10,40] convolution(x, w), window={size=1x1}, "
             "dim_labels=b01f_01io->b01f"),
       1, "input w f32[40,32,1,1];wt := transpose w permutation=2,3,1,0;", " transpose("},
      {"convolution_for_a_kernels_gradient",
       Convolution("f32[3,8,9,16]", "f32[3,8,9,24]", "f32[3,3,16,24]",
                   "window={size=8x9 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf"),
       1, "permutation=1,2,0,3", " transpose("},
      {"convolution_for_a_strided_kernels_gradient",
       Convolution("f32[3,16,18,16]", "f32[3,8,9,24]", "f32[3,3,16,24]",
                   "window={size=8x9 pad=0_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf"),
       1, "dilations=2,2"},
      {"convolution_with_images_last",  // and features last in the result alone
       Convolution("f32[16,9,10,32]", "f32[3,3,16,24]", "f32[32,9,10,24]",
                   "window={size=3x3 pad=1_1x1_1}, dim_labels=f01b_01io->b01f"),
       2, "input x f32[32,9,10,16]"},
      {"convolution_that_leaves_out_an_edge",
       Convolution("f32[2,20,20,16]", "f32[3,3,16,24]", "f32[2,16,18,24]",
                   "window={size=3x3 pad=-1_-1x0_0}, dim_labels=b01f_01io->b01f"),
       1, "pads=-1,0"},
      {"convolution_of_what_is_spread",  // one for each residue
       Convolution("f32[2,9,10,16]", "f32[3,3,16,24]", "f32[2,19,21,24]",
                   "window={size=3x3 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f"),
       4},
      {"convolution_for_a_strided_inputs_gradient",
       Convolution("f32[2,9,10,24]", "f32[4,3,32,24]", "f32[2,18,19,32]",
                   "window={size=4x3 pad=2_2x1_1 lhs_dilate=2x2 rhs_reversal=1x1}, "
                   "dim_labels=b01f_01oi->b01f"),
       4},
      {"convolution_at_a_point_of_what_is_spread",  // most of the result is zeros
       Convolution("f32[2,29,30,16]", "f32[1,1,16,32]", "f32[2,57,88,32]",
                   "window={size=1x1 lhs_dilate=2x3}, dim_labels=b01f_01io->b01f"),
       1},
      {"convolution_of_what_is_spread_in_steps",
       Convolution("f32[2,39,40,16]", "f32[3,3,16,24]", "f32[2,38,39,24]",
                   "window={size=3x3 stride=2x2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f"),
       0},
      {"convolution_in_groups",
       Convolution("f32[2,9,10,32]", "f32[3,3,16,32]", "f32[2,7,8,32]",
                   "window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=2"),
       0},
      {"convolution_of_few_features",  // a window's row is one of memory
       Convolution("f32[2,40,39,3]", "f32[7,7,3,64]", "f32[2,20,20,64]",
                   "window={size=7x7 stride=2x2 pad=2_3x3_3}, dim_labels=b01f_01io->b01f"),
       1, "convolve x w sizes=20,20 strides=2,6 dilations=1,1 pads=0,0;"},
      {"convolution_of_very_few_features",
       Convolution("f32[2,40,40,3]", "f32[3,3,3,64]", "f32[2,38,38,64]",
                   "window={size=3x3}, dim_labels=b01f_01io->b01f"),
       1, "convolve x w sizes=38,38 strides=1,3"},
      // Rows of a window that are too short to be read along.
      {"convolution_of_one_feature",
       Convolution("f32[2,40,40,1]", "f32[3,3,1,64]", "f32[2,38,38,64]",
                   "window={size=3x3}, dim_labels=b01f_01io->b01f"),
       0},
      {"convolution_of_few_features_first",
       Convolution("f32[2,3,40,40]", "f32[64,3,7,7]", "f32[2,64,34,34]",
                   "window={size=7x7}, dim_labels=bf01_oi01->bf01"),
       1, "convolve x w sizes=34,34 strides=1,3"},
      // What follows is of features last, too, and computed in the kernel.
      {"convolution_of_features_first_with_what_follows",
       Program("f32",
               "  x = f32[2,16,9,10] parameter(0)\n  w = f32[32,16,3,3] parameter(1)\n"
               "  y = f32[2,32,9,10] convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
               "dim_labels=bf01_oi01->bf01\n  b = f32[32] parameter(2)\n"
               "  c = f32[2,32,9,10] broadcast(b), dimensions={1}\n"
               "  s = f32[2,32,9,10] add(y, c)\n"
               "  z = f32[2,32,9,10] broadcast(zero), dimensions={}\n"
               "  r = f32[2,32,9,10] maximum(s, z)\n"
               "  p = f32[2,32,4,5] reduce-window(r, least), window={size=1x1x2x2 stride=1x1x2x2}, "
               "to_apply=maximum_of\n  v = f32[48,32,3,3] parameter(3)\n"
               "  u = f32[2,48,4,5] convolution(p, v), window={size=3x3 pad=1_1x1_1}, "
               "dim_labels=bf01_oi01->bf01\n"
               "  ROOT m = f32[2,48] reduce(u, zero), dimensions={2,3}, to_apply=add_of\n"),
       2, "v0 := broadcast i0 sizes=2,9,10,32 dimensions=3;v1 := add y v0;"},
      {"convolutions_of_features_first_put_together",
       Program("f32",
               "  x = f32[2,16,9,10] parameter(0)\n  w = f32[32,16,3,3] parameter(1)\n"
               "  y = f32[2,32,9,10] convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
               "dim_labels=bf01_oi01->bf01\n"
               "  k = f32[2,32,10,12] pad(y, zero), padding=0_0x0_0x1_0x0_2\n"
               "  l = f32[2,20,9,10] slice(k), slice={[0:2], [4:24], [0:9], [2:12]}\n"
               "  c = f32[2,52,9,10] concatenate(y, l), dimensions={1}\n"
               "  b = f32[2,52] parameter(2)\n  d = f32[2,52,9,10] broadcast(b), dimensions={0,1}\n"
               "  e = f32[9,52] parameter(3)\n  f = f32[2,52,9,10] broadcast(e), dimensions={2,1}\n"
               "  g = f32[2,52,9,10] multiply(c, d)\n  h = f32[2,52,9,10] add(g, f)\n"
               "  ROOT m = f32[52,10] reduce(h, zero), dimensions={0,2}, to_apply=add_of\n"),
       1, "sizes=9,10", "[2,52,9,10]"},
      {"convolution_for_a_kernels_gradient_of_features_first",
       Convolution("f32[4,16,9,10]", "f32[4,32,9,10]", "f32[32,16,3,3]",
                   "window={size=9x10 pad=1_1x1_1}, dim_labels=fb01_io01->fb01"),
       1, "permutation=1,2,0,3;"},
      {"convolution_behind_the_gradient_of_a_maximum",
       "HloModule test\n"
       "ge {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
       "  ROOT c = pred[] compare(a, b), direction=GE\n}\n"
       "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
       "ENTRY main {\n  x = f32[2,32,4,5] parameter(0)\n  w = f32[32,32,3,3] parameter(1)\n"
       "  y = f32[2,32,4,5] convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
       "dim_labels=bf01_oi01->bf01\n  u = f32[2,16,8,10] parameter(2)\n"
       "  v = f32[32,16,3,3] parameter(3)\n"
       "  q = f32[2,32,8,10] convolution(u, v), window={size=3x3 pad=1_1x1_1}, "
       "dim_labels=bf01_oi01->bf01\n  z = f32[] constant(0)\n"
       "  ROOT s = f32[2,32,8,10] select-and-scatter(q, y, z), window={size=1x1x2x2 "
       "stride=1x1x2x2}, select=ge, scatter=add\n}\n",
       2, "convolve", "[2,32,8,10]{3,2,1,0} select-and-scatter"},
      {"convolution_for_a_kernels_gradient_of_few_features",
       Convolution("f32[2,40,39,3]", "f32[2,20,20,32]", "f32[7,7,3,32]",
                   "window={size=20x20 pad=2_3x3_3 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf"),
       1, "sizes=7,21 strides=1,1 dilations=2,6 pads=0,0;"},
  };
  for (Case& one : cases) one.pass = kConvolutionPass;
  for (const Case& one : DepthwiseConvolutions()) cases.push_back(one);
  return cases;
}

}  // namespace hone::loops
