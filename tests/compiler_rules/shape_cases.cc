// Values that are laid out otherwise: put together from parts, or over other dimensions.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {

std::vector<Case> ShapeCases() {
  const std::string assign =
      "assign {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}\n";
  const std::string masked_scatter =
      "z = s32[6] constant({0, 0, 0, 0, 0, 0})\n  b = pred[6] compare(p3, z), direction=GT\n"
      "  m = pred[6,20,3] broadcast(b), dimensions={0}\n"
      "  w = f32[6,20,3] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={1}, "
      "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
      "scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=assign\n";
  const auto masked_columns = [](const std::string& combiner) {
    return "z = s32[6] constant({0, 0, 0, 0, 0, 0})\n"
           "  b = pred[6] compare(p3, z), direction=GT\n"
           "  m = pred[6,20] broadcast(b), dimensions={0}\n"
           "  w = f32[6,20] scatter(p0, p1, p2), update_window_dims={1}, "
           "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, "
           "to_apply=" +
           combiner + "\n  ROOT y = f32[6,20] select(m, w, p0)";
  };
  // v of the step: of the two before it, as in a recurrence that is written out, or of the one
  // before it and that reversed.
  const auto recurrence = [](int steps, const std::string& shape, bool reversed) {
    std::string text = "v0 = " + shape + " multiply(p0, p0)\n  v1 = " + shape + " negate(p0)\n  ";
    for (int k = 2; k <= steps; ++k) {
      const std::string name = "v" + std::to_string(k);
      const std::string before = "v" + std::to_string(k - 1);
      text += "r" + name + " = " + shape + " reverse(" + before + "), dimensions={0}\n  m" + name +
              " = " + shape + " multiply(p0, " + before + ")\n  " + (k == steps ? "ROOT " : "") +
              name + " = " + shape + " add(m" + name + ", " +
              (reversed ? "r" + name : "v" + std::to_string(k - 2)) + ")\n  ";
    }
    return Entry(shape, text);
  };
  return {
      {"shared_once", "exchanges that are written out", recurrence(8, "f32[80]", true)},
      {"shared_once", "few exchanges", recurrence(2, "f32[80]", true), false},
      {"shared_once", "exchanges of few numbers", recurrence(8, "f32[40]", true), false},
      {"shared_once", "a recurrence, which one kernel computes element by element",
       recurrence(8, "f32[80]", false), false},
      {"shared_once", "much that two slices take",
       Entry(
           "f32[120]",
           "b = f32[120] add(p0, p0)\n  c = f32[120] multiply(b, p0)\n  d = f32[120] subtract(c, "
           "b)\n"
           "  e = f32[120] maximum(d, p0)\n  f = f32[120] minimum(e, c)\n  g = f32[120] negate(f)\n"
           "  h = f32[120] abs(g)\n  v = f32[120] add(h, b)\n"
           "  s = f32[80] slice(v), slice={[0:80]}\n  t = f32[80] slice(v), slice={[10:90]}\n"
           "  ROOT r = f32[80] add(s, t)")},
      {"shared_once", "little that two slices take",
       Entry("f32[120]",
             "v = f32[120] add(p0, p0)\n  s = f32[80] slice(v), slice={[0:80]}\n"
             "  t = f32[80] slice(v), slice={[10:90]}\n  ROOT r = f32[80] add(s, t)"),
       false},
      {"shared_once", "what three slices take",
       Entry("f32[120]",
             "v = f32[120] cosine(p0)\n  a = f32[80] slice(v), slice={[0:80]}\n"
             "  b = f32[80] slice(v), slice={[10:90]}\n  c = f32[80] slice(v), slice={[20:100]}\n"
             "  d = f32[80] add(a, b)\n  ROOT r = f32[80] multiply(c, d)")},
      {"shared_once", "what three products take",
       Entry("f32[20,20]",
             "v = f32[20,20] cosine(p0)\n  a = f32[20,20] dot(v, p0), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}\n  b = f32[20,20] dot(v, a), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}\n  ROOT c = f32[20,20] dot(v, b), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"padded_sums", "gradients of a split",
       Entry("f32[12,10];f32[12,20];f32[12,5]",
             "z = f32[] constant(0)\n  a = f32[12,40] pad(p0, z), padding=0_0x0_30\n"
             "  b = f32[12,40] pad(p1, z), padding=0_0x10_10\n"
             "  c = f32[12,40] pad(p2, z), padding=0_0x35_0\n"
             "  s = f32[12,40] add(a, b)\n  t = f32[12,40] add(s, c)\n"
             "  ROOT n = f32[12,40] negate(t)"),
       true, true},
      {"padded_sums", "of differences, and something else",
       Entry("f32[31,20];f32[31,20];f32[32,20]",
             "z = f32[] constant(0)\n  a = f32[32,20] pad(p0, z), padding=0_1x0_0\n"
             "  b = f32[32,20] pad(p1, z), padding=1_0x0_0\n"
             "  s = f32[32,20] add(p2, a)\n  ROOT t = f32[32,20] add(s, b)")},
      {"padded_sums", "interleaved, of odd length, with a single one",
       Entry("f32[13,20];f32[12,20];f32[1,20]",
             "z = f32[] constant(0)\n  a = f32[25,20] pad(p0, z), padding=0_0_1x0_0\n"
             "  b = f32[25,20] pad(p1, z), padding=1_1_1x0_0\n"
             "  c = f32[25,20] pad(p2, z), padding=24_0x0_0\n"
             "  s = f32[25,20] add(a, b)\n  ROOT t = f32[25,20] add(s, c)")},
      {"padded_sums", "interleaved in the last dimension, and two of another one",
       Entry("s32[16,8];s32[16,6];s32[9,17];s32[7,17]",
             "z = s32[] constant(0)\n  a = s32[16,17] pad(p0, z), padding=0_0x0_2_1\n"
             "  b = s32[16,17] pad(p1, z), padding=0_0x3_3_1\n"
             "  c = s32[16,17] pad(p2, z), padding=0_7x0_0\n"
             "  d = s32[16,17] pad(p3, z), padding=9_0x0_0\n"
             "  s = s32[16,17] add(a, b)\n  t = s32[16,17] add(c, d)\n"
             "  ROOT u = s32[16,17] add(s, t)")},
      {"padded_sums", "truth values",
       Entry("pred[40,8];pred[40,9]",
             "z = pred[] constant(false)\n  a = pred[40,17] pad(p0, z), padding=0_0x0_9\n"
             "  b = pred[40,17] pad(p1, z), padding=0_0x8_0\n"
             "  ROOT s = pred[40,17] or(a, b)")},
      {"padded_sums", "padded with ones",
       Entry("f32[12,20];f32[12,20]",
             "z = f32[] constant(1)\n  a = f32[12,40] pad(p0, z), padding=0_0x0_20\n"
             "  b = f32[12,40] pad(p1, z), padding=0_0x20_0\n"
             "  ROOT s = f32[12,40] add(a, b)"),
       false},
      {"padded_sums", "one alone",
       Entry("f32[12,20];f32[12,40]",
             "z = f32[] constant(0)\n  a = f32[12,40] pad(p0, z), padding=0_0x0_20\n"
             "  ROOT s = f32[12,40] add(a, p1)"),
       false},
      {"random_bits", "words",
       Entry("u64[2]",
             "g = (u64[2], u32[30,21]) rng-bit-generator(p0), algorithm=rng_default\n"
             "  s = u64[2] get-tuple-element(g), index=0\n"
             "  b = u32[30,21] get-tuple-element(g), index=1\n"
             "  ROOT t = (u64[2], u32[30,21]) tuple(s, b)"),
       true, true},
      {"random_bits", "longer ones, of another state",
       Entry("u64[3]",
             "g = (u64[3], u64[333]) rng-bit-generator(p0), algorithm=rng_philox\n"
             "  s = u64[3] get-tuple-element(g), index=0\n"
             "  b = u64[333] get-tuple-element(g), index=1\n"
             "  ROOT t = (u64[3], u64[333]) tuple(s, b)"),
       true, true},
      {"random_bits", "bytes",
       Entry("u64[2]",
             "g = (u64[2], u8[1001]) rng-bit-generator(p0), algorithm=rng_default\n"
             "  s = u64[2] get-tuple-element(g), index=0\n"
             "  b = u8[1001] get-tuple-element(g), index=1\n"
             "  ROOT t = (u64[2], u8[1001]) tuple(s, b)"),
       true, true},
      {"random_bits", "by another algorithm",
       Entry("u64[2]",
             "g = (u64[2], u32[600]) rng-bit-generator(p0), algorithm=rng_three_fry\n"
             "  s = u64[2] get-tuple-element(g), index=0\n"
             "  b = u32[600] get-tuple-element(g), index=1\n"
             "  ROOT t = (u64[2], u32[600]) tuple(s, b)"),
       true, true},
      {"random_bits", "few",
       Entry("u64[2]",
             "g = (u64[2], u32[20]) rng-bit-generator(p0), algorithm=rng_default\n"
             "  s = u64[2] get-tuple-element(g), index=0\n"
             "  b = u32[20] get-tuple-element(g), index=1\n"
             "  ROOT t = (u64[2], u32[20]) tuple(s, b)"),
       false},
      {"one_place", "added to an element",
       Entry("f32[6,20];s32[2];f32[]",
             "ROOT y = f32[6,20] scatter(p0, p1, p2), update_window_dims={}, "
             "inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, "
             "to_apply=add",
             Binary("add", "f32", "add"))},
      {"one_place", "rows in the place of others, beside the edges or not",
       Entry("f32[6,20];s32[1];f32[2,20]",
             "i = s32[1] constant({5})\n  j = s32[1] constant({-1})\n"
             "  a = f32[6,20] scatter(p0, p1, p2), update_window_dims={0,1}, "
             "inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, "
             "to_apply=assign\n"
             "  b = f32[6,20] scatter(a, i, p2), update_window_dims={0,1}, "
             "inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, "
             "to_apply=assign\n"
             "  ROOT y = f32[6,20] scatter(b, j, p2), update_window_dims={0,1}, "
             "inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, "
             "to_apply=assign",
             assign)},
      {"one_place", "a column, by an index of one more dimension",
       Entry("s32[5,7,3];u32[1,1];s32[1,5,3]",
             "ROOT y = s32[5,7,3] scatter(p0, p1, p2), update_window_dims={1,2}, "
             "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, "
             "to_apply=max",
             Binary("max", "s32", "maximum"))},
      {"one_place", "by an index of fewer bits than there are places",
       Entry("f32[300];f32[]",
             "i = u8[1] constant({200})\n  ROOT y = f32[300] scatter(p0, i, p1), "
             "update_window_dims={}, "
             "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, "
             "to_apply=add",
             Binary("add", "f32", "add"))},
      {"one_place", "two places",
       Entry("f32[20];s32[2,1];f32[2]",
             "ROOT y = f32[20] scatter(p0, p1, p2), update_window_dims={}, "
             "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
             "to_apply=add",
             Binary("add", "f32", "add")),
       false},
      {"masked_updates", "a place in each of a batch",
       Entry("f32[6,20,3];s32[6,1];f32[6,3];s32[6]",
             masked_scatter + "  ROOT y = f32[6,20,3] select(m, w, p0)", assign)},
      {"masked_updates", "the other way round",
       Entry("f32[6,20,3];s32[6,1];f32[6,3];s32[6]",
             masked_scatter + "  ROOT y = f32[6,20,3] select(m, p0, w)", assign)},
      {"masked_updates", "along what is written, added",
       Entry("f32[6,20];s32[4,1];f32[4,6];s32[6]", masked_columns("add"),
             Binary("add", "f32", "add"))},
      {"masked_updates", "along what is written, in its place",
       Entry("f32[6,20];s32[4,1];f32[4,6];s32[6]", masked_columns("assign"), assign)},
      {"masked_updates", "a block, by one truth value",
       Entry("f32[6,20];f32[6,2];s32[];s32[]",
             "z = s32[] constant(0)\n  b = pred[] compare(p3, z), direction=GT\n"
             "  m = pred[6,20] broadcast(b), dimensions={}\n"
             "  w = f32[6,20] dynamic-update-slice(p0, p1, z, p2)\n"
             "  ROOT y = f32[6,20] select(m, w, p0)")},
      {"masked_updates", "a row of a batch, at no place",
       Entry("f32[6,20];s32[6,0];f32[6,20];s32[6]",
             "z = s32[6] constant({0, 0, 0, 0, 0, 0})\n"
             "  b = pred[6] compare(p3, z), direction=GT\n"
             "  m = pred[6,20] broadcast(b), dimensions={0}\n"
             "  w = f32[6,20] scatter(p0, p1, p2), update_window_dims={1}, "
             "inserted_window_dims={}, scatter_dims_to_operand_dims={}, input_batching_dims={0}, "
             "scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=assign\n"
             "  ROOT y = f32[6,20] select(m, w, p0)",
             assign),
       false},
      {"masked_updates", "along places that the write does not know of",
       Entry("f32[6,20];f32[6,2];s32[];s32[20]",
             "z = s32[20] constant({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})\n"
             "  b = pred[20] compare(p3, z), direction=GT\n  o = s32[] constant(0)\n"
             "  m = pred[6,20] broadcast(b), dimensions={1}\n"
             "  w = f32[6,20] dynamic-update-slice(p0, p1, o, p2)\n"
             "  ROOT y = f32[6,20] select(m, w, p0)"),
       false},
      {"flat_elementwise", "with a row of weights, some values twice",
       Entry("f32[800,20];f32[800,20];f32[20]",
             "n = f32[800,20] tanh(p0)\n  b = f32[800,20] broadcast(p2), dimensions={1}\n"
             "  m = f32[800,20] multiply(n, p1)\n  s = f32[800,20] add(m, b)\n"
             "  d = f32[800,20] divide(s, n)\n  ROOT r = f32[800,20] add(d, s)"),
       true, true},
      {"flat_elementwise", "chosen, of other types, by a number",
       Entry("s32[30,9,17];f32[30,9,17];f32[]",
             "c = f32[30,9,17] convert(p0)\n  b = f32[30,9,17] broadcast(p2), dimensions={}\n"
             "  g = pred[30,9,17] compare(c, b), direction=GT\n"
             "  e = f32[30,9,17] exponential(p1)\n"
             "  s = f32[30,9,17] select(g, e, p1)\n  i = s32[] constant(1)\n"
             "  j = s32[30,9,17] broadcast(i), dimensions={}\n"
             "  k = s32[30,9,17] subtract(p0, j)\n  h = f32[30,9,17] convert(k)\n"
             "  ROOT r = f32[30,9,17] add(s, h)"),
       true, true},
      {"flat_elementwise", "rows of several dimensions, counted and spread",
       Entry("f32[64,12,10];f32[12,10];f32[10];f32[64]",
             "b = f32[64,12,10] broadcast(p1), dimensions={1,2}\n"
             "  c = f32[64,12,10] broadcast(p2), dimensions={2}\n"
             "  i = f32[64,12,10] iota(), iota_dimension=1\n"
             "  f = f32[64,12,10] broadcast(p3), dimensions={0}\n"
             "  s = f32[64,12,10] add(p0, b)\n  t = f32[64,12,10] multiply(s, c)\n"
             "  u = f32[64,12,10] add(t, i)\n  ROOT v = f32[64,12,10] multiply(u, f)")},
      {"flat_elementwise", "needed in two places, in a loop",
       Entry("f32[500,12]",
             "z = s32[] constant(0)\n  t = (s32[], f32[500,12]) tuple(z, p0)\n"
             "  w = (s32[], f32[500,12]) while(t), condition=more, body=step\n"
             "  ROOT r = f32[500,12] get-tuple-element(w), index=1",
             "more {\n  t = (s32[], f32[500,12]) parameter(0)\n"
             "  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant(5)\n"
             "  ROOT l = pred[] compare(i, n), direction=LT\n}\n" +
                 Binary("add", "f32", "add") +
                 "step {\n  t = (s32[], f32[500,12]) parameter(0)\n"
                 "  i = s32[] get-tuple-element(t), index=0\n"
                 "  x = f32[500,12] get-tuple-element(t), index=1\n"
                 "  h = f32[500,12] tanh(x)\n  zero = f32[] constant(0)\n"
                 "  m = f32[12] reduce(h, zero), dimensions={0}, to_apply=add\n"
                 "  b = f32[500,12] broadcast(m), dimensions={1}\n"
                 "  d = f32[500,12] subtract(h, b)\n  one = s32[] constant(1)\n"
                 "  j = s32[] add(i, one)\n"
                 "  ROOT u = (s32[], f32[500,12]) tuple(j, d)\n}\n")},
      {"flat_elementwise", "of bits of other numbers",
       Entry("u8[500,20,4];u32[500,20]",
             "f = f32[500,20] bitcast-convert(p0)\n  t = f32[500,20] tanh(f)\n"
             "  b = u32[500,20] bitcast-convert(t)\n  ROOT x = u32[500,20] xor(b, p1)")},
      {"flat_elementwise", "rows of two vectors",
       Entry("f32[300,32]", "ROOT r = f32[300,32] logistic(p0)")},
      {"flat_elementwise", "long rows", Entry("f32[100,160]", "ROOT r = f32[100,160] tanh(p0)"),
       false},
      {"flat_elementwise", "rows of weights that do not fill vectors together",
       Entry("f32[1031,20];f32[20]",
             "b = f32[1031,20] broadcast(p1), dimensions={1}\n  ROOT r = f32[1031,20] add(p0, b)"),
       false},
  };
}

}  // namespace hone::compiler
