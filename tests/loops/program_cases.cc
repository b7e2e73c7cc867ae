#include "program_cases.h"

namespace hone::loops {

std::string Program(const std::string& type, const std::string& body) {
  std::string text = "HloModule test\n";
  for (const std::string opcode : {"add", "maximum", "minimum", "multiply"}) {
    text += opcode + "_of {\n  a = " + type + "[] parameter(0)\n  b = " + type +
            "[] parameter(1)\n  ROOT c = " + type + "[] " + opcode + "(a, b)\n}\n";
  }
  return text + "ENTRY main {\n  zero = " + type + "[] constant(0)\n  least = " + type +
         "[] constant(-inf)\n" + body + "}\n";
}

std::string Whole(const std::string& body) {
  return "HloModule test\nENTRY main {\n" + body + "\n}\n";
}

std::string Softmax(const std::string& type, const std::string& shape, const std::string& rows,
                    const std::string& dimensions, const std::string& last) {
  const std::string all = type + "[" + shape + "]", row = type + "[" + rows + "]";
  return "  x = " + all + " parameter(0)\n  m = " + row + " reduce(x, least), dimensions={" + last +
         "}, to_apply=maximum_of\n  l = " + row + " broadcast(least), dimensions={}\n  n = " + row +
         " maximum(l, m)\n  nb = " + all + " broadcast(n), dimensions={" + dimensions +
         "}\n  s = " + all + " subtract(x, nb)\n  e = " + all + " exponential(s)\n  t = " + row +
         " reduce(e, zero), dimensions={" + last + "}, to_apply=add_of\n  tb = " + all +
         " broadcast(t), dimensions={" + dimensions + "}\n  ROOT r = " + all + " divide(e, tb)\n";
}

namespace {

// A dot of `left` and `right`, as the whole program.
std::string Dot(const std::string& left, const std::string& right, const std::string& result,
                const std::string& dimensions) {
  return Whole("  x = " + left + " parameter(0)\n  y = " + right +
               " parameter(1)\n  ROOT d = " + result + " dot(x, y), " + dimensions);
}

// softmax(q kT) v; `root` is what the program returns.
std::string LargeAttention(const std::string& root) {
  std::string scores = Softmax("f32", "64,64", "64", "0", "1");
  scores.replace(scores.find("x = f32[64,64] parameter(0)"), 27,
                 "x = f32[64,64] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}");
  scores.replace(scores.find("ROOT r"), 6, "r");
  return Program("f32",
                 "  q = f32[64,64] parameter(0)\n  k = f32[64,64] parameter(1)\n"
                 "  v = f32[64,64] parameter(2)\n" +
                     scores +
                     "  y = f32[64,64] dot(r, v), lhs_contracting_dims={1}, "
                     "rhs_contracting_dims={0}\n" +
                     root);
}

// A layer a turn, with weights of a stack that is rounded before the loop.
std::string RoundedBeforeALoop() {
  const std::string state = "(s32[], f32[64,96], bf16[4,96,96])";
  return "HloModule test\nbody {\n  s = " + state +
         " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
         "  x = f32[64,96] get-tuple-element(s), index=1\n"
         "  w = bf16[4,96,96] get-tuple-element(s), index=2\n"
         "  one = s32[] constant(1)\n  zero = s32[] constant(0)\n  n = s32[] add(i, one)\n"
         "  d = bf16[1,96,96] dynamic-slice(w, i, zero, zero), dynamic_slice_sizes={1,96,96}\n"
         "  r = bf16[96,96] reshape(d)\n  c = bf16[64,96] convert(x)\n"
         "  y = f32[64,96] dot(c, r), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
         "  t = f32[64,96] tanh(y)\n  ROOT o = " +
         state + " tuple(n, t, w)\n}\ncondition {\n  s = " + state +
         " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
         "  four = s32[] constant(4)\n  ROOT l = pred[] compare(i, four), direction=LT\n}\n"
         "ENTRY main {\n  x = f32[64,96] parameter(0)\n  w = f32[4,96,96] parameter(1)\n"
         "  b = bf16[4,96,96] convert(w)\n  zero = s32[] constant(0)\n  s = " +
         state + " tuple(zero, x, b)\n  l = " + state +
         " while(s), condition=condition, body=body\n"
         "  ROOT r = f32[64,96] get-tuple-element(l), index=1\n}\n";
}

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

std::vector<Case> Products() {
  const std::string plain = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const std::string dot =
      "  x = f32[61,80] parameter(0)\n  y = f32[80,97] parameter(1)\n  d = f32[61,97] dot(x, y), " +
      plain + "\n";
  std::vector<Case> cases = {
      {"product", Dot("f32[61,80]", "f32[80,97]", "f32[61,97]", plain), 1,
       "y = product a b;output"},
      {"product_of_transposes",
       Dot("f32[80,61]", "f32[97,80]", "f32[61,97]",
           "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
       1, "l := transpose a permutation=1,0;r := transpose b permutation=1,0;"},
      {"product_with_a_column_of_layouts",  // XLA is asked for rows
       Dot("f32[61,80]{0,1}", "f32[80,97]{0,1}", "f32[61,97]{0,1}", plain)},
      {"product_of_one_row", Dot("f32[1,800]", "f32[800,400]", "f32[1,400]", plain), 1,
       "input a f32[1,800];input b f32[800,400];y = product a b;"},
      {"product_of_a_matrix_by_a_vector",
       Dot("f32[400,800]", "f32[800]", "f32[400]",
           "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       1, "input a f32[1,800];input b f32[400,800];r := transpose b permutation=1,0;"},
      {"product_of_few_rows_with_a_bias",
       Program(
           "bf16",
           "  x = bf16[4,800] parameter(0)\n  y = bf16[800,400] parameter(1)\n"
           "  d = bf16[4,400] dot(x, y), " +
               plain +
               "\n  b = bf16[400] parameter(2)\n  w = bf16[4,400] broadcast(b), dimensions={1}\n"
               "  ROOT s = bf16[4,400] add(d, w)\n"),
       1, "input a bf16[4,800];input b bf16[800,400];input i0 bf16[400];"},
      {"products_of_one_row_each",
       Dot("f32[12,1,64]", "f32[12,400,64]", "f32[12,1,400]",
           "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
           "rhs_contracting_dims={2}"),
       1, "input a f32[12,1,64];input b f32[12,400,64];"},
      {"product_of_some_rows", Dot("f32[20,800]", "f32[800,400]", "f32[20,400]", plain), 0},
      {"product_of_some_rows_with_a_narrow_matrix",
       Dot("f32[20,800]", "bf16[800,400]", "f32[20,400]", plain), 1, "input b bf16[800,400]"},
      {"product_of_doubles", Dot("f64[61,80]", "f64[80,97]", "f64[61,97]", plain), 1,
       "input a f64"},
      {"product_of_narrow_floats", Dot("bf16[61,80]", "bf16[80,97]", "bf16[61,97]", plain), 1,
       "input a bf16[61,80];input b bf16[80,97]"},
      {"product_of_two_narrow_types", Dot("f16[61,80]", "bf16[80,97]", "f32[61,97]", plain), 1,
       "input a f16[61,80];input b bf16[80,97]"},
      {"product_of_narrow_floats_that_ends",
       Program("bf16",
               "  x = bf16[61,80] parameter(0)\n  y = bf16[80,97] parameter(1)\n"
               "  d = bf16[61,97] dot(x, y), " +
                   plain +
                   "\n  b = f32[97] parameter(2)\n  c = bf16[97] convert(b)\n"
                   "  w = bf16[61,97] broadcast(c), dimensions={1}\n  s = bf16[61,97] add(d, w)\n"
                   "  f = f32[61,97] convert(s)\n  t = f32[61,97] tanh(f)\n"
                   "  ROOT r = bf16[61,97] convert(t)\n"),
       1, "input i0 f32[97];", "add("},
      // For two that take it rounded: then it is computed once.
      {"product_that_two_take_rounded",
       Program("f32", dot + "  n = bf16[61,97] convert(d)\n  f = f32[61,97] convert(n)\n"
                            "  t = f32[61,97] tanh(f)\n  e = f32[61,97] exponential(f)\n"
                            "  ROOT r = (f32[61,97], f32[61,97]) tuple(t, e)\n"),
       1, "output y;"},
      {"product_with_quantised_weights",
       Whole("  x = f32[61,80] parameter(0)\n  q = s8[80,97] parameter(1)\n"
             "  w = f32[80,97] convert(q)\n  ROOT d = f32[61,97] dot(x, w), " +
             plain),
       1, "input b s8[80,97]", "convert("},
      {"product_with_weights_that_are_rounded",
       Whole("  x = bf16[61,80] parameter(0)\n  w = f32[97,80] parameter(1)\n"
             "  t = f32[80,97] transpose(w), dimensions={1,0}\n  b = bf16[80,97] convert(t)\n"
             "  ROOT d = bf16[61,97] dot(x, b), " +
             plain),
       1, "input b f32_as_bf16[97,80];r := transpose b"},
      {"weights_that_are_rounded_before_a_loop", RoundedBeforeALoop(), 1, "input b bf16[96,96]",
       "bf16[4,96,96]{2,1,0}) while("},
      {"product_of_what_is_rounded_as_it_is_made",
       Whole("  x = f32[61,80] parameter(0)\n  w = bf16[80,97] parameter(1)\n"
             "  t = f32[61,80] tanh(x)\n  b = bf16[61,80] convert(t)\n"
             "  ROOT d = bf16[61,97] dot(b, w), " +
             plain),
       1, "input a bf16[61,80]"},
      {"product_with_quantised_weights_scaled_before",
       Program("bf16",
               "  x = bf16[61,80] parameter(0)\n  q = s8[80,97] parameter(1)\n"
               "  c = bf16[97] parameter(2)\n  b = bf16[80,97] broadcast(c), dimensions={1}\n"
               "  w = bf16[80,97] convert(q)\n  s = bf16[80,97] multiply(w, b)\n"
               "  ROOT d = bf16[61,97] dot(x, s), " +
                   plain),
       1, "input b s8[80,97]", "multiply("},
      {"product_to_wider_floats", Dot("bf16[61,80]", "bf16[80,97]", "f32[61,97]", plain)},
      {"product_of_batches_that_lie_between",
       Dot("f32[50,2,64,3]", "f32[2,64,3,48]", "f32[2,3,50,48]",
           "lhs_batch_dims={1,3}, rhs_batch_dims={0,2}, lhs_contracting_dims={2}, "
           "rhs_contracting_dims={1}"),
       1, "l := transpose a permutation=1,3,0,2;r := transpose b permutation=0,2,1,3;"},
      {"product_over_several_dimensions",
       Dot("f32[7,10,8,10]", "f32[8,1,10,6,9]", "f32[7,10,1,6,9]",
           "lhs_contracting_dims={2,3}, rhs_contracting_dims={0,2}"),
       1, "input a f32[70,80];input b f32[80,54]"},
      {"product_over_dimensions_in_another_order",
       Dot("f32[50,8,10]", "f32[10,8,54]", "f32[50,54]",
           "lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}"),
       0},
      {"product_of_sides_that_lie_apart",
       Dot("f32[5,80,10]", "f32[80,97]", "f32[5,10,97]",
           "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       0},
      {"product_of_few_terms", Dot("f32[512,8]", "f32[8,97]", "f32[512,97]", plain), 0},
      {"product_of_integers", Dot("s32[61,80]", "s32[80,97]", "s32[61,97]", plain), 0},
      {"product_that_is_transposed",
       Whole("  x = f32[2,64,80] parameter(0)\n"
             "  y = f32[2,80,56] parameter(1)\n  d = f32[2,64,56] dot(x, y), lhs_batch_dims={0}, "
             "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
             "  ROOT t = f32[64,2,56] transpose(d), dimensions={1,0,2}"),
       1, "y = product a b permutation=1,0,2;", "transpose("},
      // The columns become rows: the operands change places.
      {"product_that_is_turned_round",
       Whole("  x = f32[64,80] parameter(0)\n"
             "  y = f32[80,56] parameter(1)\n  d = f32[64,56] dot(x, y), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}\n  ROOT t = f32[56,64] transpose(d), dimensions={1,0}"),
       1, "input a f32[80,56];input b f32[64,80];", "transpose("},
      {"product_whose_batches_are_turned_last",  // the transpose stays
       Whole("  x = f32[2,64,80] parameter(0)\n"
             "  y = f32[2,80,56] parameter(1)\n  d = f32[2,64,56] dot(x, y), lhs_batch_dims={0}, "
             "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
             "  ROOT t = f32[64,56,2] transpose(d), dimensions={1,2,0}"),
       1, "y = product a b;"},
      {"product_of_what_is_transposed_before",
       Whole("  x = f32[80,2,64] parameter(0)\n"
             "  u = f32[2,64,80] transpose(x), dimensions={1,2,0}\n"
             "  y = f32[80,56] parameter(1)\n  ROOT d = f32[2,64,56] dot(u, y), "
             "lhs_contracting_dims={2}, rhs_contracting_dims={0}"),
       1, "input a f32[80,128];", " transpose("},
      {"product_with_itself",
       Whole("  x = f32[64,80] parameter(0)\n"
             "  ROOT d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
       1, "y = product a r;", "input b"},
      {"product_with_a_bias_and_an_activation",
       Program("f32",
               dot + "  b = f32[97] parameter(2)\n"
                     "  w = f32[61,97] broadcast(b), dimensions={1}\n  s = f32[61,97] add(d, w)\n"
                     "  z = f32[61,97] broadcast(zero), dimensions={}\n"
                     "  ROOT r = f32[61,97] maximum(s, z)\n"),
       1, "y := product a b;v0 := broadcast i0 sizes=61,97 dimensions=1;v1 := add y v0;"},
      {"product_whose_value_is_needed_as_well",
       Program("f32", dot + "  t = f32[61,97] tanh(d)\n"
                            "  ROOT r = (f32[61,97], f32[61,97]) tuple(d, t)\n"),
       1, "y = product a b;output y;"},
      // A relu's gradient asks whether the sum is above 0; so does its value.
      {"product_whose_sign_is_needed_as_well",
       Program("f32",
               dot +
                   "  z = f32[61,97] broadcast(zero), dimensions={}\n"
                   "  m = f32[61,97] maximum(d, z)\n  p = pred[61,97] compare(d, z), direction=GT\n"
                   "  ROOT r = (f32[61,97], pred[61,97]) tuple(m, p)\n"),
       1, "v1 = maximum y v0;"},
      {"product_behind_a_mask",
       Program("f32", dot + "  h = f32[61,97] parameter(2)\n"
                            "  z = f32[61,97] broadcast(zero), dimensions={}\n"
                            "  p = pred[61,97] compare(h, z), direction=GT\n"
                            "  ROOT r = f32[61,97] select(p, d, z)\n"),
       1, "v1 := less v0 i0;"},
      {"product_with_rows_and_a_number",
       Program("f64",
               "  x = f64[4,20,80] parameter(0)\n  y = f64[80,97] parameter(1)\n"
               "  d = f64[4,20,97] dot(x, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"
               "  n = f64[] parameter(2)\n  w = f64[4,20,97] broadcast(n), dimensions={}\n"
               "  s = f64[4,20,97] multiply(w, d)\n  c = f64[4,20,97] parameter(3)\n"
               "  ROOT r = f64[4,20,97] subtract(s, c)\n"),
       1, "input i0 f64[1];input i1 f64[80,97];"},
      // Of several dimensions that are one of the product's: an array, which nobody has in memory.
      {"product_with_numbers_of_two_dimensions",
       Program("f32",
               "  x = f32[4,20,80] parameter(0)\n  y = f32[80,97] parameter(1)\n"
               "  d = f32[4,20,97] dot(x, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"
               "  c = f32[4,20] parameter(2)\n  w = f32[4,20,97] broadcast(c), dimensions={0,1}\n"
               "  ROOT r = f32[4,20,97] add(d, w)\n"),
       1, "output y;"},
      {"product_beside_what_is_computed_in_passing",
       Program("f32", dot + "  h = f32[61,97] parameter(2)\n  e = f32[61,97] tanh(h)\n"
                            "  s = f32[61,97] add(d, e)\n  u = f32[61,97] negate(e)\n"
                            "  ROOT r = (f32[61,97], f32[61,97]) tuple(s, u)\n"),
       1, "y = product a b;"},
      {"product_beside_what_is_in_memory",
       Program("f32", dot + "  h = f32[61,97] parameter(2)\n  e = f32[61,97] tanh(h)\n"
                            "  s = f32[61,97] add(d, e)\n"
                            "  ROOT r = (f32[61,97], f32[61,97]) tuple(s, e)\n"),
       1, "v0 = add y i0;"},
      {"products_added",
       Program(
           "f32",
           dot + "  u = f32[61,80] parameter(2)\n  v = f32[80,97] parameter(3)\n"
                 "  e = f32[61,97] dot(u, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                 "  ROOT r = f32[61,97] add(d, e)\n"),
       2, "y := product a b;"},
      {"product_that_is_transposed_with_a_bias",
       Program("f32",
               "  x = f32[2,64,80] parameter(0)\n  y = f32[2,80,56] parameter(1)\n"
               "  d = f32[2,64,56] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, "
               "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
               "  t = f32[64,2,56] transpose(d), dimensions={1,0,2}\n  b = f32[2] parameter(2)\n"
               "  w = f32[64,2,56] broadcast(b), dimensions={1}\n"
               "  ROOT r = f32[64,2,56] add(t, w)\n"),
       1, "y := product a b permutation=1,0,2;v0 := broadcast i0 sizes=64,2,56 dimensions=1;"},
      {"product_and_a_gelu",  // what is taken several times
       Program("f32", dot + "  c = f32[61,97] multiply(d, d)\n  q = f32[61,97] multiply(c, d)\n"
                            "  t = f32[61,97] tanh(q)\n  s = f32[61,97] add(t, d)\n"
                            "  ROOT r = f32[61,97] multiply(s, d)\n"),
       1, "= multiply v3 y;output v4"},
      {"products_of_attention", LargeAttention("  ROOT z = f32[64,64] negate(y)\n"), 0},
      {"products_of_attention_whose_weights_are_needed",
       LargeAttention("  ROOT z = (f32[64,64], f32[64,64]) tuple(y, r)\n"), 2},
  };
  for (Case& one : cases) one.pass = kProductPass;
  return cases;
}

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
      {"convolution_to_few_features",
       Convolution("f32[2,40,40,64]", "f32[3,3,64,8]", "f32[2,38,38,8]",
                   "window={size=3x3}, dim_labels=b01f_01io->b01f"),
       0},
  };
  for (Case& one : cases) one.pass = kConvolutionPass;
  for (const Case& one : DepthwiseConvolutions()) cases.push_back(one);
  return cases;
}

}  // namespace hone::loops
