// Loops over a batch, which is moved behind.
#include "implementation_cases.h"
#include "loop_text.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// Half of h and half of x, which `body` makes of g1.
std::string Mean(const std::string& type) {
  return "  k0 = f32[] constant(0.5)\n  k = " + type +
         " broadcast(k0), dimensions={}\n  hm = " + type + " add(g1, x)\n  h = " + type +
         " multiply(hm, k)\n";
}

// A loop over one array that becomes Mean of itself and of x.
std::string Steps(const std::string& type, const std::string& body,
                  const std::string& parameters = "", const std::vector<Part>& others = {}) {
  std::vector<Part> parts = {{type, "p0", "h"}};
  parts.insert(parts.end(), others.begin(), others.end());
  return Loop(type + parameters, parts, "  nought = f32[] constant(0)\n" + body + Mean(type));
}

// Until no element of the state, of 64 vectors, is above 0.1: `n` counts.
std::string Until() {
  const std::string state = "(s32[], f32[64,20])";
  return Entry("f32[64,20]",
               "zero = s32[] constant(0)\n  t = " + state + " tuple(zero, p0)\n  ROOT w = " +
                   state + " while(t), condition=condition, body=body",
               Binary("most", "f32", "maximum") + "body {\n  t = " + state +
                   " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                   "  g = f32[64,20] get-tuple-element(t), index=1\n  one = s32[] constant(1)\n"
                   "  n = s32[] add(i, one)\n  k0 = f32[] constant(0.7)\n"
                   "  k = f32[64,20] broadcast(k0), dimensions={}\n"
                   "  s = f32[64,20] sine(g)\n  h = f32[64,20] multiply(s, k)\n  ROOT o = " +
                   state + " tuple(n, h)\n}\ncondition {\n  t = " + state +
                   " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                   "  g = f32[64,20] get-tuple-element(t), index=1\n"
                   "  a = f32[64,20] abs(g)\n  low = f32[] constant(0)\n"
                   "  m = f32[] reduce(a, low), dimensions={0,1}, to_apply=most\n"
                   "  e = f32[] constant(0.1)\n  above = pred[] compare(m, e), direction=GT\n"
                   "  last = s32[] constant(30)\n  few = pred[] compare(i, last), direction=LT\n"
                   "  ROOT c = pred[] and(above, few)\n}\n");
}

// Each step's rows go through a loop of their own.
std::string Within() {
  const std::string inner = "(s32[], f32[64,20], f32[4,64])";
  const std::string loop =
      "inside {\n  t = " + inner +
      " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
      "  g = f32[64,20] get-tuple-element(t), index=1\n"
      "  y = f32[4,64] get-tuple-element(t), index=2\n  one = s32[] constant(1)\n"
      "  z = s32[] constant(0)\n  n = s32[] add(i, one)\n"
      "  c = f32[64,1] dynamic-slice(g, z, i), dynamic_slice_sizes={64,1}\n"
      "  v = f32[64] reshape(c)\n  u = f32[1,64] reshape(v)\n"
      "  yn = f32[4,64] dynamic-update-slice(y, u, i, z)\n"
      "  b = f32[64,20] broadcast(v), dimensions={0}\n  s = f32[64,20] subtract(g, b)\n"
      "  h = f32[64,20] tanh(s)\n  ROOT o = " +
      inner + " tuple(n, h, yn)\n}\nfour {\n  t = " + inner +
      " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  m = s32[] constant(4)\n"
      "  ROOT c = pred[] compare(i, m), direction=LT\n}\n";
  std::string text =
      Steps("f32[64,20]", "  y0 = f32[4,64] broadcast(nought), dimensions={}\n  ti = " + inner +
                              " tuple(z, g1, y0)\n  wi = " + inner +
                              " while(ti), condition=four, body=inside\n"
                              "  v = f32[64,20] get-tuple-element(wi), index=1\n"
                              "  ys = f32[4,64] get-tuple-element(wi), index=2\n"
                              "  yt = f32[64,4] transpose(ys), dimensions={1,0}\n"
                              "  sum = f32[64] reduce(yt, nought), dimensions={1}, to_apply=plus\n"
                              "  sb = f32[64,20] broadcast(sum), dimensions={0}\n"
                              "  x = f32[64,20] add(v, sb)\n");
  return text.insert(text.find("body {"), loop);
}

}  // namespace

std::vector<Case> BatchCases() {
  const std::string argmax =
      "  io = s32[64,20] iota(), iota_dimension=1\n  low = f32[] constant(-inf)\n"
      "  rm = (f32[64], s32[64]) reduce(g1, io, low, z), dimensions={1}, to_apply=argmax\n"
      "  at = s32[64] get-tuple-element(rm), index=1\n";
  const std::string pick = Argmax("f32", "GT");
  const auto with = [](std::string text, const std::string& computation) {
    return text.insert(text.find("body {"), computation);
  };
  return {
      {"batch_last", "vectors, their norms and products",
       Steps("f32[400,3]",
             "  q = f32[400,3] multiply(g1, g2)\n"
             "  s = f32[400] reduce(q, nought), dimensions={1}, to_apply=plus\n"
             "  sb = f32[400,3] broadcast(s), dimensions={0}\n"
             "  a0 = f32[400,1] slice(g1), slice={[0:400], [1:2]}\n"
             "  a1 = f32[400,2] slice(g1), slice={[0:400], [0:2]}\n"
             "  c = f32[400,3] concatenate(a0, a1), dimensions={1}\n"
             "  r = f32[400,3] reverse(c), dimensions={1}\n  sr = f32[400,3] add(sb, r)\n"
             "  x = f32[400,3] tanh(sr)\n",
             ";f32[400,3]", {{"f32[400,3]", "p1", "g2"}})},
      {"batch_last", "stacked along another dimension, edges and orders",
       Steps("f32[64,4,5]",
             "  a = f32[1,64,4,5] reshape(g1)\n  n1 = f32[64,4,5] negate(g1)\n"
             "  b1 = f32[1,64,4,5] reshape(n1)\n"
             "  c = f32[2,64,4,5] concatenate(a, b1), dimensions={0}\n"
             "  ct = f32[64,4,5,2] transpose(c), dimensions={1,2,3,0}\n"
             "  e = f32[64,20,2] reshape(ct)\n"
             "  em = f32[64,20] reduce(e, nought), dimensions={2}, to_apply=plus\n"
             "  er = f32[64,4,5] reshape(em)\n"
             "  pd = f32[64,6,5] pad(g1, nought), padding=0_0x1_1x0_0\n"
             "  ps = f32[64,4,5] slice(pd), slice={[0:64], [0:4], [0:5]}\n"
             "  tr = f32[64,5,4] transpose(ps), dimensions={0,2,1}\n"
             "  ts = f32[64,5,4] sine(tr)\n  tb = f32[64,4,5] transpose(ts), dimensions={0,2,1}\n"
             "  x = f32[64,4,5] add(er, tb)\n")},
      {"batch_last", "steps that are taken and written",
       Loop("f32[128,9];f32[6,128,9]",
            {{"f32[128,9]", "p0", "h"}, {"f32[6,128,9]", "p1", "g2"}, {"f32[6,128,9]", "y0", "yn"}},
            "  d = f32[1,128,9] dynamic-slice(g2, i, z, z), dynamic_slice_sizes={1,128,9}\n"
            "  x = f32[128,9] reshape(d)\n" +
                Mean("f32[128,9]") +
                "  u = f32[1,128,9] reshape(h)\n"
                "  yn = f32[6,128,9] dynamic-update-slice(g3, u, i, z, z)\n",
            Zeros("y0", "f32[6,128,9]"))},
      {"batch_last", "products with small matrices of their own",
       Steps("f32[256,4]",
             "  m = f32[256,4] dot(g2, g1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
             "  mm = f32[256,4,4] dot(g2, g2), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={1}, rhs_contracting_dims={2}\n"
             "  ms = f32[256,4] reduce(mm, nought), dimensions={1}, to_apply=plus\n"
             "  sm = f32[256,4] add(m, ms)\n  x = f32[256,4] tanh(sm)\n",
             ";f32[256,4,4]", {{"f32[256,4,4]", "p1", "g2"}})},
      {"batch_last", "products with weights, and their gradient",
       Steps("f32[256,6]",
             DotText("a", "f32[256,8]", "g1, g2", 1, 0) + "  at = f32[256,8] tanh(a)\n" +
                 DotText("bt", "f32[6,256]", "g2, at", 1, 1) +
                 "  b2 = f32[256,6] transpose(bt), dimensions={1,0}\n" +
                 DotText("gr", "f32[6,8]", "g1, at", 0, 0) +
                 "  ga = f32[6,8] add(gr, g3)\n  x = f32[256,6] sine(b2)\n",
             ";f32[6,8];f32[6,8]", {{"f32[6,8]", "p1", "g2"}, {"f32[6,8]", "p2", "ga"}})},
      {"batch_last", "where the largest is, and what a table has for it",
       with(Steps("f32[64,20]",
                  argmax + "  ai = s32[64,1] reshape(at)\n"
                           "  row = f32[64,20] gather(g2, ai), offset_dims={1}, "
                           "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
                           "slice_sizes={1,20}\n  x = f32[64,20] subtract(g1, row)\n",
                  ";f32[20,20]", {{"f32[20,20]", "p1", "g2"}}),
            pick)},
      {"batch_last", "all of the batch from and to places of a dimension",
       Steps("f32[64,20]",
             "  c = s32[3,1] constant({{5}, {2}, {19}})\n  ng = f32[64,20] negate(g1)\n"
             "  ga = f32[64,3] gather(ng, c), offset_dims={0}, collapsed_slice_dims={1}, "
             "start_index_map={1}, index_vector_dim=1, slice_sizes={64,1}\n"
             "  x = f32[64,20] scatter(ng, c, ga), update_window_dims={0}, "
             "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, "
             "to_apply=plus\n")},
      {"batch_last", "places of their own, in what is computed",
       with(Steps("f32[64,20]",
                  argmax +
                      "  ai = s32[64,1,1] reshape(at)\n  ng = f32[64,20] negate(g1)\n"
                      "  ga = f32[64,1] gather(ng, ai), offset_dims={}, "
                      "collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
                      "start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}\n"
                      "  gv = f32[64] reshape(ga)\n"
                      "  gb = f32[64,20] broadcast(gv), dimensions={0}\n"
                      "  x = f32[64,20] add(ng, gb)\n"),
            pick)},
      {"batch_last", "until all are done", Until()},
      {"batch_last", "a loop within", Within()},
      {"batch_last", "bytes",
       Loop("u8[999,11]", {{"u8[999,11]", "p0", "h"}},
            "  a0 = u8[999,1] slice(g1), slice={[0:999], [10:11]}\n"
            "  a1 = u8[999,10] slice(g1), slice={[0:999], [0:10]}\n"
            "  c = u8[999,11] concatenate(a0, a1), dimensions={1}\n"
            "  io = u8[999,11] iota(), iota_dimension=0\n  s = u8[999,11] add(c, io)\n"
            "  h = u8[999,11] xor(s, g1)\n")},
      {"batch_last", "few", Steps("f32[60,3]", "  x = f32[60,3] tanh(g1)\n"), false},
      {"batch_last", "long rows", Steps("f32[30,300]", "  x = f32[30,300] tanh(g1)\n"), false},
      {"batch_last", "that are sorted",
       with(Steps("f32[64,20]",
                  "  s = f32[64,20] sort(g1), dimensions={1}, to_apply=less\n"
                  "  x = f32[64,20] tanh(s)\n"),
            Comparator("less", "f32", "direction=LT")),
       false},
  };
}

}  // namespace hone::compiler
