// Products with what is known before anything runs, and scatters to places that are.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// k = f32[in,out]: how much of each of `in` places a linear interpolation at `out` places takes,
// as JAX writes it; these are so far apart. Needs add of f32.
std::string Interpolation(const std::string& in, const std::string& out, const std::string& apart) {
  const std::string whole = "f32[" + in + "," + out + "]";
  const auto spread = [&](const std::string& name, const std::string& value) {
    return name + "0 = f32[] constant(" + value + ")\n  " + name + " = " + whole + " broadcast(" +
           name + "0), dimensions={}\n  ";
  };
  return spread("half", "0.5") + spread("one", "1") + spread("zero", "0") + spread("by", apart) +
         "o = f32[" + out + "] iota(), iota_dimension=0\n  ob = " + whole +
         " broadcast(o), dimensions={1}\n  i = " + whole +
         " iota(), iota_dimension=0\n  oh = " + whole + " add(ob, half)\n  om = " + whole +
         " multiply(oh, by)\n  at = " + whole + " subtract(om, half)\n  d = " + whole +
         " subtract(at, i)\n  a = " + whole + " abs(d)\n  s = " + whole +
         " subtract(one, a)\n  t = " + whole + " maximum(s, zero)\n  n = f32[" + out +
         "] reduce(t, zero0), dimensions={0}, to_apply=add\n  nb = " + whole +
         " broadcast(n), dimensions={1}\n  k = " + whole + " divide(t, nb)\n  ";
}

// t = f32[40,50]: cosines of products of counters. Has zero = s32[].
std::string Angles() {
  return "zero = s32[] constant(0)\n  i = f32[40,50] iota(), iota_dimension=0\n"
         "  j = f32[40,50] iota(), iota_dimension=1\n  a = f32[40,50] multiply(i, j)\n"
         "  t = f32[40,50] cosine(a)\n  ";
}

// q = s32[count]: 0, 0, .. 1, 1, .., so many of each, as JAX writes it.
std::string Quotients(const std::string& count, const std::string& together,
                      const std::string& name = "q") {
  const std::string whole = "[" + count + "]";
  return name + "c = f32[] constant(" + together + ")\n  " + name + "b = f32" + whole +
         " broadcast(" + name + "c), dimensions={}\n  " + name + "i = f32" + whole +
         " iota(), iota_dimension=0\n  " + name + "d = f32" + whole + " divide(" + name + "i, " +
         name + "b)\n  " + name + "f = f32" + whole + " floor(" + name + "d)\n  " + name +
         " = s32" + whole + " convert(" + name + "f)\n  ";
}

}  // namespace

std::vector<Case> KnownCases() {
  const std::string add = Binary("add", "f32", "add");
  return {
      {"constant_subgraphs", "a table of cosines",
       Entry("f32[40,50]", Angles() + "ROOT r = f32[40,50] multiply(p0, t)")},
      {"constant_subgraphs", "one that is taken narrower, and as it is, in a tuple",
       Entry("bf16[40,50]", Angles() +
                                "u = (f32[40,50], s32[]) tuple(t, zero)\n"
                                "  g = f32[40,50] get-tuple-element(u), index=0\n"
                                "  n = bf16[40,50] convert(g)\n  m = bf16[40,50] multiply(p0, n)\n"
                                "  ROOT r = (bf16[40,50], f32[40,50]) tuple(m, g)")},
      {"constant_subgraphs", "places of true elements",
       Entry("f32[300]",
             "i = s32[300] iota(), iota_dimension=0\n  c7 = s32[] constant(7)\n"
             "  b7 = s32[300] broadcast(c7), dimensions={}\n  m = s32[300] remainder(i, b7)\n"
             "  c0 = s32[] constant(0)\n  b0 = s32[300] broadcast(c0), dimensions={}\n"
             "  is = pred[300] compare(m, b0), direction=EQ\n  n = s32[300] convert(is)\n"
             "  sums = s32[300] reduce-window(n, c0), window={size=300 pad=299_0}, to_apply=add\n"
             "  g = f32[300] gather(p0, sums), offset_dims={}, collapsed_slice_dims={0}, "
             "start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n"
             "  ROOT r = f32[300] negate(g)",
             Binary("add", "s32", "add"))},
      {"constant_subgraphs", "what a loop makes of counters",
       Entry("s32[300]",
             "zero = s32[] constant(0)\n  i = s32[300] iota(), iota_dimension=0\n"
             "  u = (s32[], s32[300]) tuple(zero, i)\n"
             "  w = (s32[], s32[300]) while(u), condition=few, body=hash\n"
             "  g = s32[300] get-tuple-element(w), index=1\n  ROOT x = s32[300] xor(p0, g)",
             "hash {\n  u = (s32[], s32[300]) parameter(0)\n"
             "  k = s32[] get-tuple-element(u), index=0\n"
             "  x = s32[300] get-tuple-element(u), index=1\n  one = s32[] constant(1)\n"
             "  n = s32[] add(k, one)\n  by = s32[] constant(1664525)\n"
             "  bb = s32[300] broadcast(by), dimensions={}\n  m = s32[300] multiply(x, bb)\n"
             "  nb = s32[300] broadcast(n), dimensions={}\n  a = s32[300] add(m, nb)\n"
             "  ROOT t = (s32[], s32[300]) tuple(n, a)\n}\nfew {\n"
             "  u = (s32[], s32[300]) parameter(0)\n  k = s32[] get-tuple-element(u), index=0\n"
             "  c = s32[] constant(5)\n  ROOT l = pred[] compare(k, c), direction=LT\n}\n")},
      {"constant_subgraphs", "of few elements: as fast as reading them",
       Entry("f32[4]",
             "i = f32[4] iota(), iota_dimension=0\n  t = f32[4] cosine(i)\n"
             "  ROOT r = f32[4] multiply(p0, t)"),
       false},
      {"constant_subgraphs", "a mask, which is cheap",
       Entry("f32[100,100]",
             "i = s32[100,100] iota(), iota_dimension=0\n"
             "  j = s32[100,100] iota(), iota_dimension=1\n"
             "  m = pred[100,100] compare(i, j), direction=LT\n  n = f32[100,100] negate(p0)\n"
             "  ROOT r = f32[100,100] select(m, p0, n)"),
       false},
      {"constant_subgraphs", "a program that takes nothing",
       Entry("", Angles() + "ROOT r = f32[40,50] negate(t)"), false},
      {"dot_with_known_matrix", "twice as many rows, the matrix first",
       Entry("f32[2,8,3]",
             Interpolation("8", "16", "0.5") +
                 "ROOT r = f32[16,2,3] dot(k, p0), lhs_contracting_dims={0}, "
                 "rhs_contracting_dims={1}",
             add)},
      {"dot_with_known_matrix", "half as many columns, slices, the matrix last, narrow",
       Entry("bf16[2,16,3]",
             Interpolation("16", "8", "2") +
                 "kn = bf16[16,8] convert(k)\n"
                 "  ROOT r = bf16[2,3,8] dot(p0, kn), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}",
             add)},
      {"dot_with_known_matrix", "the gradient, the matrix in a tuple",
       Entry("f32[16,3,2]",
             Interpolation("8", "16", "0.5") +
                 "u = (f32[16,3,2], f32[8,16]) tuple(p0, k)\n"
                 "  g = f32[8,16] get-tuple-element(u), index=1\n"
                 "  ROOT r = f32[3,2,8] dot(p0, g), lhs_contracting_dims={0}, "
                 "rhs_contracting_dims={1}",
             add)},
      {"dot_with_known_matrix", "a vector, to places of which some take nothing",
       Entry("f32[9]",
             "i = s32[9,5] iota(), iota_dimension=0\n  o = s32[9,5] iota(), iota_dimension=1\n"
             "  m = s32[9,5] multiply(o, o)\n  e = pred[9,5] compare(i, m), direction=EQ\n"
             "  k = f32[9,5] convert(e)\n"
             "  ROOT r = f32[5] dot(p0, k), lhs_contracting_dims={0}, rhs_contracting_dims={0}")},
      {"dot_with_known_matrix", "of doubles, a constant",
       Entry("f64[8,2]",
             "k = f64[2,8] constant({{0,0.5,0,0,0,0,0,2}, {0,0,0,-1,0,0,0,0}})\n"
             "  ROOT r = f64[2,2] dot(k, p0), lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"dot_with_known_matrix", "takes too many",
       Entry("f32[2,40]",
             Interpolation("8", "40", "0.2") +
                 "ROOT r = f32[2,8] dot(p0, k), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={1}",
             add),
       false},
      {"dot_with_known_matrix", "of few",
       Entry("f32[2,4]",
             Interpolation("4", "8", "0.5") +
                 "ROOT r = f32[2,8] dot(p0, k), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}",
             add),
       false},
      {"dot_with_known_matrix", "known but for its scale",
       Entry("f32[2,8];f32[]",
             Interpolation("8", "16", "0.5") +
                 "sb = f32[8,16] broadcast(p1), dimensions={}\n  ks = f32[8,16] multiply(k, sb)\n"
                 "  ROOT r = f32[2,16] dot(p0, ks), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}",
             add),
       false},
      {"scatter_of_known_places", "the gradient of what repeats columns",
       Entry("f32[2,5,12,3]",
             Quotients("12", "3") +
                 "i = s32[12,1] reshape(q)\n  z = f32[] constant(0)\n"
                 "  zb = f32[2,5,4,3] broadcast(z), dimensions={}\n"
                 "  ROOT r = f32[2,5,4,3] scatter(zb, i, p0), update_window_dims={0,1,3}, "
                 "inserted_window_dims={2}, scatter_dims_to_operand_dims={2}, index_vector_dim=1, "
                 "to_apply=add",
             add)},
      {"scatter_of_known_places", "narrow, places without a dimension, onto something",
       Entry("bf16[6,3];bf16[3,3]",
             Quotients("6", "2") +
                 "ROOT r = bf16[3,3] scatter(p1, q, p0), update_window_dims={1}, "
                 "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                 "to_apply=sum",
             Binary("sum", "bf16", "add"))},
      {"scatter_of_known_places", "by rows and columns, of integers, turned round",
       Entry("s32[6,4,7]",
             Quotients("6", "2", "v") + Quotients("4", "4", "w") +
                 "vs = s32[6,4,1] broadcast(v), dimensions={0}\n"
                 "  ws = s32[6,4,1] broadcast(w), dimensions={1}\n"
                 "  i = s32[6,4,2] concatenate(vs, ws), dimensions={2}\n"
                 "  z = s32[] constant(0)\n  zb = s32[7,1,3] broadcast(z), dimensions={}\n"
                 "  ROOT r = s32[7,1,3] scatter(zb, i, p0), update_window_dims={2}, "
                 "inserted_window_dims={1,2}, scatter_dims_to_operand_dims={2,1}, "
                 "index_vector_dim=2, to_apply=sum",
             Binary("sum", "s32", "add"))},
      {"scatter_of_known_places", "each to its own place",
       Entry("f32[3,4];f32[3,4]",
             "i = s32[4,1] iota(), iota_dimension=0\n"
             "  ROOT r = f32[3,4] scatter(p1, i, p0), update_window_dims={0}, "
             "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, "
             "to_apply=add",
             add)},
      {"scatter_of_known_places", "the largest",
       Entry("f32[6,3];f32[3,3]",
             Quotients("6", "2") +
                 "ROOT r = f32[3,3] scatter(p1, q, p0), update_window_dims={1}, "
                 "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                 "to_apply=largest",
             Binary("largest", "f32", "maximum")),
       false},
      {"scatter_of_known_places", "only to the first places",
       Entry("f32[6,3];f32[3,3]",
             Quotients("6", "3") +
                 "ROOT r = f32[3,3] scatter(p1, q, p0), update_window_dims={1}, "
                 "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                 "to_apply=add",
             add),
       false},
      {"scatter_of_known_places", "parts of rows",
       Entry("f32[6,2];f32[3,3]",
             Quotients("6", "2") +
                 "ROOT r = f32[3,3] scatter(p1, q, p0), update_window_dims={1}, "
                 "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                 "to_apply=add",
             add),
       false},
      {"scatter_of_known_places", "places that are given",
       Entry("f32[6,3];f32[3,3];s32[6]",
             "ROOT r = f32[3,3] scatter(p1, p2, p0), update_window_dims={1}, "
             "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
             "to_apply=add",
             add),
       false},
  };
}

}  // namespace hone::compiler
