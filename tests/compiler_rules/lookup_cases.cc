// Of products with what is looked up, or that look up.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// [n, places] of a type: 1 where p0[n] says the place, as JAX writes it.
std::string OneHot(const std::string& n, const std::string& places, const std::string& type) {
  return "x = s32[" + n + ",1] reshape(p0)\n  xr = s32[" + n + "] reshape(x)\n  xb = s32[" + n +
         "," + places + "] broadcast(xr), dimensions={0}\n  i = s32[1," + places +
         "] iota(), iota_dimension=1\n  ir = s32[" + places + "] reshape(i)\n  ib = s32[" + n +
         "," + places + "] broadcast(ir), dimensions={1}\n  e = pred[" + n + "," + places +
         "] compare(xb, ib), direction=EQ\n  h = " + type + "[" + n + "," + places +
         "] convert(e)\n  ";
}

// Rows of p0 [5,4] at p1 [9], as JAX finds them: NaN where there are none.
const char kRows[] =
    "z = s32[] constant(0)\n  zb = s32[9] broadcast(z), dimensions={}\n  m = s32[] constant(4)\n"
    "  mb = s32[9] broadcast(m), dimensions={}\n  ge = pred[9] compare(p1, zb), direction=GE\n"
    "  le = pred[9] compare(p1, mb), direction=LE\n  in = pred[9] and(ge, le)\n"
    "  inb = pred[9,4] broadcast(in), dimensions={0}\n  i = s32[9,1] reshape(p1)\n"
    "  g = f32[9,4] gather(p0, i), offset_dims={1}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}\n  none = f32[] constant(nan)\n"
    "  nb = f32[9,4] broadcast(none), dimensions={}\n  r = f32[9,4] select(inb, g, nb)\n  ";

// h = f32[6,4,3]: 1 in the slot p1 of the expert p0 that a token has, which may be none.
std::string Slots() {
  return "a = s32[6,4] broadcast(p0), dimensions={0}\n  i = s32[6,4] iota(), iota_dimension=1\n  x "
         "= "
         "pred[6,4] compare(a, i), direction=EQ\n  f = f32[6,4] convert(x)\n  b = s32[6,4,3] "
         "broadcast(p1), dimensions={0,1}\n  j = s32[6,4,3] iota(), iota_dimension=2\n  y = "
         "pred[6,4,3] compare(b, j), direction=EQ\n  fb = f32[6,4,3] broadcast(f), "
         "dimensions={0,1}\n  s = f32[6,4,3] convert(y)\n  h = f32[6,4,3] multiply(fb, s)\n  ";
}

}  // namespace

std::vector<Case> LookupCases() {
  const std::string rows = kRows;
  return {
      {"flat_places", "elements, each by a row and a column, some of them outside",
       Entry("f32[20,30];s32[400,1];s32[400,1]",
             "c = s32[400,2] concatenate(p1, p2), dimensions={1}\n"
             "  ROOT g = f32[400] gather(p0, c), offset_dims={}, collapsed_slice_dims={0,1}, "
             "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}")},
      {"flat_places", "rows by three numbers in another order, which come first",
       Entry("f32[5,4,6,7];s64[3,300]",
             "ROOT g = f32[300,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={1,2,3}, "
             "start_index_map={3,1,2}, index_vector_dim=0, slice_sizes={5,1,1,1}")},
      {"flat_places", "one of each row's, some of them outside",
       Entry("f32[300,7];s32[300,2,1]",
             "ROOT g = f32[300,2] gather(p0, p1), offset_dims={}, collapsed_slice_dims={1}, "
             "start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, "
             "index_vector_dim=2, slice_sizes={1,1}")},
      {"flat_places", "rows of each of a batch, which keep a size of 1",
       Entry("f32[4,90,9,5];s32[90,4,1]",
             "ROOT g = f32[90,4,1,5] gather(p0, p1), offset_dims={2,3}, collapsed_slice_dims={}, "
             "start_index_map={2}, operand_batching_dims={0,1}, "
             "start_indices_batching_dims={1,0}, index_vector_dim=2, slice_sizes={1,1,1,5}")},
      {"flat_places", "sums of what some write to the same place, some of it outside",
       Entry("f32[20,30];s32[400,2];f32[400]",
             "ROOT s = f32[20,30] scatter(p0, p1, p2), update_window_dims={}, "
             "inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, "
             "to_apply=add",
             Binary("add", "f32", "add"))},
      {"flat_places", "rows that are written by two bytes each",
       Entry("f32[9,20,30];u8[20,20,2];f32[20,20,9]",
             "ROOT s = f32[9,20,30] scatter(p0, p1, p2), update_window_dims={2}, "
             "inserted_window_dims={1,2}, scatter_dims_to_operand_dims={1,2}, index_vector_dim=2, "
             "to_apply=most",
             Binary("most", "f32", "maximum"))},
      {"flat_places", "by one number",
       Entry("f32[600];s32[400,1];f32[400]",
             "ROOT s = f32[600] scatter(p0, p1, p2), update_window_dims={}, "
             "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
             "to_apply=add",
             Binary("add", "f32", "add")),
       false},
      {"flat_places", "of slices along what is looked up by",
       Entry("f32[20,30];s32[400,2]",
             "ROOT g = f32[400,2] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, "
             "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,2}"),
       false},
      {"one_hot_lookup", "rows of a table",
       Entry("s32[9];f32[5,3]", OneHot("9", "5", "f32") +
                                    "ROOT d = f32[9,3] dot(h, p1), lhs_contracting_dims={1}, "
                                    "rhs_contracting_dims={0}")},
      {"one_hot_lookup", "second operand, narrow, wider result",
       Entry("s32[9];bf16[3,5]", OneHot("9", "5", "bf16") +
                                     "ROOT d = f32[3,9] dot(p1, h), lhs_contracting_dims={1}, "
                                     "rhs_contracting_dims={1}")},
      {"one_hot_lookup", "scaled",
       Entry("s32[9];f32[5,3];f32[9]",
             OneHot("9", "5", "f32") +
                 "w = f32[9,5] broadcast(p2), dimensions={0}\n  s = f32[9,5] multiply(w, h)\n"
                 "  ROOT d = f32[9,3] dot(s, p1), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}")},
      {"one_hot_lookup", "a sum of rows at each place",
       Entry("s32[9];f32[9,3]", OneHot("9", "5", "f32") +
                                    "ROOT d = f32[5,3] dot(h, p1), lhs_contracting_dims={0}, "
                                    "rhs_contracting_dims={0}")},
      {"one_hot_lookup", "a sum of scaled columns at each place, transposed",
       Entry("s32[9];bf16[3,9];bf16[9]",
             OneHot("9", "5", "bf16") +
                 "w = bf16[9,5] broadcast(p2), dimensions={0}\n  s = bf16[9,5] multiply(h, w)\n"
                 "  t = bf16[5,9] transpose(s), dimensions={1,0}\n"
                 "  ROOT d = bf16[3,5] dot(p1, t), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={1}")},
      {"one_hot_lookup", "by two indices, with a batch",
       Entry("s32[2,6];s8[2,6];f32[2,4,3,5]",
             "a = s32[2,6,4,3] broadcast(p0), dimensions={0,1}\n"
             "  b = s8[2,6,4,3] broadcast(p1), dimensions={0,1}\n"
             "  i = s32[2,6,4,3] iota(), iota_dimension=2\n"
             "  j = s8[2,6,4,3] iota(), iota_dimension=3\n"
             "  x = pred[2,6,4,3] compare(i, a), direction=EQ\n"
             "  y = pred[2,6,4,3] compare(b, j), direction=EQ\n"
             "  z = pred[2,6,4,3] and(x, y)\n  h = f32[2,6,4,3] convert(z)\n"
             "  ROOT d = f32[2,6,5] dot(h, p2), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2,3}, rhs_contracting_dims={1,2}")},
      {"one_hot_lookup", "put at two indices, with a batch",
       Entry("s32[2,6];s64[2,6];f32[5,6,2];f32[6,2]",
             "a = s32[2,6,4] broadcast(p0), dimensions={0,1}\n"
             "  b = s64[2,6,3] broadcast(p1), dimensions={0,1}\n"
             "  i = s32[2,6,4] iota(), iota_dimension=2\n"
             "  j = s64[2,6,3] iota(), iota_dimension=2\n"
             "  x = pred[2,6,4] compare(i, a), direction=EQ\n"
             "  y = pred[2,6,3] compare(b, j), direction=EQ\n"
             "  zero = f32[] constant(0)\n  zeros = f32[2,6,3] broadcast(zero), dimensions={}\n"
             "  w = f32[2,6,3] broadcast(p3), dimensions={1,0}\n"
             "  f = f32[2,6,4] convert(x)\n  s = f32[2,6,3] select(y, w, zeros)\n"
             "  fb = f32[2,6,4,3] broadcast(f), dimensions={0,1,2}\n"
             "  sb = f32[2,6,4,3] broadcast(s), dimensions={0,1,3}\n"
             "  h = f32[2,6,4,3] multiply(fb, sb)\n"
             "  ROOT d = f32[2,5,4,3] dot(p2, h), lhs_batch_dims={2}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={1}, rhs_contracting_dims={1}")},
      {"one_hot_lookup", "put at two indices",
       Entry("s32[6];s64[6];f32[5,6];f32[6]",
             "a = s32[6,4] broadcast(p0), dimensions={0}\n"
             "  b = s64[6,3] broadcast(p1), dimensions={0}\n"
             "  i = s32[6,4] iota(), iota_dimension=1\n"
             "  j = s64[6,3] iota(), iota_dimension=1\n"
             "  x = pred[6,4] compare(i, a), direction=EQ\n"
             "  y = pred[6,3] compare(b, j), direction=EQ\n"
             "  zero = f32[] constant(0)\n  zeros = f32[6,3] broadcast(zero), dimensions={}\n"
             "  w = f32[6,3] broadcast(p3), dimensions={0}\n"
             "  f = f32[6,4] convert(x)\n  s = f32[6,3] select(y, w, zeros)\n"
             "  fb = f32[6,4,3] broadcast(f), dimensions={0,1}\n"
             "  sb = f32[6,4,3] broadcast(s), dimensions={0,2}\n"
             "  h = f32[6,4,3] multiply(fb, sb)\n"
             "  ROOT d = f32[5,4,3] dot(p2, h), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}")},
      {"one_hot_lookup", "slots of experts, which tokens are put into",
       Entry("s32[6];s32[6,4];f32[6,5]", Slots() + "ROOT d = f32[4,3,5] dot(h, p2), "
                                                   "lhs_contracting_dims={0}, "
                                                   "rhs_contracting_dims={0}")},
      {"one_hot_lookup", "slots of experts, weighed, from which tokens are taken",
       Entry("s32[6];s32[6,4];f32[4,3,5];f32[6,4]",
             Slots() +
                 "w = f32[6,4,3] broadcast(p3), dimensions={0,1}\n  g = f32[6,4,3] multiply(h, "
                 "w)\n  ROOT d = f32[6,5] dot(g, p2), lhs_contracting_dims={1,2}, "
                 "rhs_contracting_dims={0,1}")},
      {"one_hot_lookup", "an index that varies with the place",
       Entry("s32[9,5];f32[5,3]",
             "i = s32[9,5] iota(), iota_dimension=1\n  e = pred[9,5] compare(p0, i), "
             "direction=EQ\n  h = f32[9,5] convert(e)\n  ROOT d = f32[9,3] dot(h, p1), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"one_hot_lookup", "a counter that begins again",
       Entry("u8[9];f32[300,3]",
             "xb = u8[9,300] broadcast(p0), dimensions={0}\n  i = u8[9,300] iota(), "
             "iota_dimension=1\n  e = pred[9,300] compare(xb, i), direction=EQ\n  h = f32[9,300] "
             "convert(e)\n  ROOT d = f32[9,3] dot(h, p1), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}"),
       false},
      {"one_hot_lookup", "another comparison",
       Entry("s32[9];f32[5,3]",
             "xb = s32[9,5] broadcast(p0), dimensions={0}\n  i = s32[9,5] iota(), "
             "iota_dimension=1\n  e = pred[9,5] compare(xb, i), direction=LE\n  h = f32[9,5] "
             "convert(e)\n  ROOT d = f32[9,3] dot(h, p1), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}"),
       false},
      {"one_hot_lookup", "scaled by place",
       Entry("s32[9];f32[5,3];f32[5]",
             OneHot("9", "5", "f32") +
                 "w = f32[9,5] broadcast(p2), dimensions={1}\n  s = f32[9,5] multiply(w, h)\n"
                 "  ROOT d = f32[9,3] dot(s, p1), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}"),
       false},
      {"dot_before_lookup", "rows, or NaN",
       Entry("f32[5,4];s32[9];f32[4,3]",
             rows + "ROOT d = f32[9,3] dot(r, p2), lhs_contracting_dims={1}, "
                    "rhs_contracting_dims={0}")},
      {"dot_before_lookup", "rows, something else, and other rows",
       Entry("f32[5,4];s32[9];f32[11,3];f32[9,2]",
             rows + "g2 = f32[9,4] gather(p0, i), offset_dims={1}, collapsed_slice_dims={0}, "
                    "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}, "
                    "indices_are_sorted=true\n  p = f32[9,1] slice(p3), slice={[0:9],[1:2]}\n"
                    "  c = f32[9,11] concatenate(r, p3, p, g2), dimensions={1}\n"
                    "  ROOT d = f32[9,3] dot(c, p2), lhs_contracting_dims={1}, "
                    "rhs_contracting_dims={0}")},
      {"dot_before_lookup", "second operand, narrow",
       Entry("bf16[3,5,2];s32[9];bf16[6,4,5]",
             "i = s32[9,1] reshape(p1)\n"
             "  g = bf16[5,9,2] gather(p0, i), offset_dims={0,2}, collapsed_slice_dims={0}, "
             "start_index_map={0}, index_vector_dim=1, slice_sizes={1,5,2}\n"
             "  ROOT d = bf16[6,4,9,2] dot(p2, g), lhs_contracting_dims={2}, "
             "rhs_contracting_dims={0}")},
      {"dot_before_lookup", "two dimensions of indices, one kept before",
       Entry("f32[4,2,6];s32[3,4];f32[7,6]",
             "i = s32[3,4,1] reshape(p1)\n"
             "  g = f32[3,4,4,6] gather(p0, i), offset_dims={2,3}, collapsed_slice_dims={1}, "
             "start_index_map={1}, index_vector_dim=2, slice_sizes={4,1,6}\n"
             "  ROOT d = f32[3,4,4,7] dot(g, p2), lhs_contracting_dims={3}, "
             "rhs_contracting_dims={1}")},
      {"dot_before_lookup", "fewer than there are",
       Entry("f32[20,4];s32[9];f32[4,3]",
             "i = s32[9,1] reshape(p1)\n  g = f32[9,4] gather(p0, i), offset_dims={1}, "
             "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
             "slice_sizes={1,4}\n  ROOT d = f32[9,3] dot(g, p2), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}"),
       false},
      {"dot_before_lookup", "parts of rows",
       Entry("f32[5,4];s32[9];f32[3,3]",
             "i = s32[9,1] reshape(p1)\n  g = f32[9,3] gather(p0, i), offset_dims={1}, "
             "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
             "slice_sizes={1,3}\n  ROOT d = f32[9,3] dot(g, p2), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}"),
       false},
      {"dot_before_lookup", "summed over the rows",
       Entry("f32[5,4];s32[9];f32[9,3]",
             "i = s32[9,1] reshape(p1)\n  g = f32[9,4] gather(p0, i), offset_dims={1}, "
             "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
             "slice_sizes={1,4}\n  ROOT d = f32[4,3] dot(g, p2), lhs_contracting_dims={0}, "
             "rhs_contracting_dims={0}")},
      {"dot_before_lookup", "summed over two dimensions of rows with others, by two indices",
       Entry("bf16[2,3,4];s32[2,5,2];bf16[3,5,2];bf16[5,2,2]",
             "g = bf16[5,4,2] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0,1}, "
             "start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,1,4}\n"
             "  t = bf16[5,2,2] transpose(p3), dimensions={0,2,1}\n"
             "  c = bf16[5,6,2] concatenate(t, g), dimensions={1}\n"
             "  ROOT d = bf16[3,6] dot(p2, c), lhs_contracting_dims={2,1}, "
             "rhs_contracting_dims={2,0}")},
      {"dot_before_lookup", "summed over rows of more than their indices can say",
       Entry("f32[300,4];s8[450];f32[450,3]",
             "i = s8[450,1] reshape(p1)\n  g = f32[450,4] gather(p0, i), offset_dims={1}, "
             "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
             "slice_sizes={1,4}\n  ROOT d = f32[4,3] dot(g, p2), lhs_contracting_dims={0}, "
             "rhs_contracting_dims={0}")},
      {"dot_before_lookup", "summed over the rows, or NaN",
       Entry("f32[5,4];s32[9];f32[9,3]",
             rows + "ROOT d = f32[4,3] dot(r, p2), lhs_contracting_dims={0}, "
                    "rhs_contracting_dims={0}"),
       false},
      {"dot_before_lookup", "a product added to rows",
       Entry("f32[5,4];s32[9];f32[9,3];f32[4,3]",
             "i = s32[9,1] reshape(p1)\n  d = f32[9,4] dot(p2, p3), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={1}\n  ROOT s = f32[5,4] scatter(p0, i, d), "
             "update_window_dims={1}, inserted_window_dims={0}, "
             "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
             Binary("sum", "f32", "add"))},
      {"dot_before_lookup", "columns of a product added to columns, others kept",
       Entry("bf16[4,5];s32[9];bf16[9,3];bf16[7,3]",
             "i = s32[9,1] reshape(p1)\n  d = bf16[7,9] dot(p3, p2), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={1}\n  a = bf16[4,9] slice(d), slice={[2:6],[0:9]}\n"
             "  s = bf16[4,5] scatter(p0, i, a), update_window_dims={0}, "
             "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, "
             "to_apply=sum\n  b = bf16[2,9] slice(d), slice={[0:2],[0:9]}\n"
             "  ROOT t = (bf16[4,5], bf16[2,9]) tuple(s, b)",
             Binary("sum", "bf16", "add"))},
      {"dot_before_lookup", "a product that takes the place of rows",
       Entry("f32[5,4];s32[9];f32[9,3];f32[4,3]",
             "i = s32[9,1] reshape(p1)\n  d = f32[9,4] dot(p2, p3), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={1}\n  ROOT s = f32[5,4] scatter(p0, i, d), "
             "update_window_dims={1}, inserted_window_dims={0}, "
             "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=largest",
             Binary("largest", "f32", "maximum")),
       false},
      {"dot_before_lookup", "all columns of a product",
       Entry("f32[9,3];f32[4,3]",
             "d = f32[9,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
             "  a = f32[9,1] slice(d), slice={[0:9],[0:1]}\n"
             "  b = f32[9,3] slice(d), slice={[0:9],[1:4]}\n"
             "  ROOT t = (f32[9,1], f32[9,3]) tuple(a, b)"),
       false},
  };
}

}  // namespace hone::compiler
