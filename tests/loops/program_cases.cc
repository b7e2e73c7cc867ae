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

std::string SoftmaxGradient() {
  std::string text = Softmax("f32", "64,96", "64", "0", "1");
  text.replace(text.find("ROOT r"), 6, "r");
  return Program("f32", text +
                            "  g = f32[64,96] parameter(1)\n  gq = f32[64,96] divide(g, tb)\n"
                            "  ge = f32[64,96] multiply(gq, e)\n  w = f32[64] reduce(ge, zero), "
                            "dimensions={1}, to_apply=add_of\n  ws = f32[64] divide(w, t)\n"
                            "  wb = f32[64,96] broadcast(ws), dimensions={0}\n"
                            "  d = f32[64,96] subtract(gq, wb)\n  h = f32[64,96] multiply(d, e)\n"
                            "  ROOT all = (f32[64,96], f32[64,96]) tuple(r, h)\n");
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
      // What fills vectors is enough, and what lies the other way round.
      {"product_of_few_columns", Dot("f32[512,80]", "f32[80,10]", "f32[512,10]", plain), 1,
       "input b f32[80,10];y = product a b;"},
      {"product_of_columns_that_fill_no_vectors",
       Dot("f32[512,80]", "f32[80,24]", "f32[512,24]", plain), 0},
      {"product_of_few_columns_of_a_transposed_matrix",
       Dot("f32[512,80]", "f32[512,24]", "f32[80,24]",
           "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
       1, "input a f32[512,80];input b f32[512,24];l := transpose a permutation=1,0;"},
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
      // A maximum's gradient asks whether it is the value: that is not computed twice.
      {"product_that_is_compared_with_its_maximum",
       Program("f32", dot + "  r = f32[61,1,97] reshape(d)\n  w = f32[61,1,97] parameter(2)\n"
                            "  m = f32[61,1,97] maximum(r, w)\n"
                            "  e = pred[61,1,97] compare(r, m), direction=EQ\n"
                            "  s = f32[61,1,97] select(e, w, m)\n"
                            "  ROOT t = (f32[61,1,97], f32[61,1,97]) tuple(r, s)\n"),
       1, "output y;", "v0 := maximum"},
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

}  // namespace hone::loops
