// Vectors of few components, which are taken apart.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {

std::vector<Case> ComponentCases() {
  const std::string add = Binary("add", "f32", "add");
  const std::string pick = Argmax("f32", "GT");
  // From each of some points to each of others.
  const std::string differences =
      "a = f32[60,50,3] broadcast(p0), dimensions={0,2}\n"
      "  b = f32[60,50,3] broadcast(p1), dimensions={1,2}\n"
      "  d = f32[60,50,3] subtract(a, b)\n  zero = f32[] constant(0)\n  ";
  return {
      {"components_apart", "distances of points",
       Entry("f32[60,3];f32[50,3]",
             differences + "s = f32[60,50,3] multiply(d, d)\n"
                           "  ROOT r = f32[60,50] reduce(s, zero), dimensions={2}, to_apply=add",
             add),
       true, true},
      {"components_apart", "the vector that all of them add up to",
       Entry("f32[60,3];f32[50,3]",
             differences + "t = f32[60,50,3] tanh(d)\n"
                           "  ROOT r = f32[60,3] reduce(t, zero), dimensions={1}, to_apply=add",
             add)},
      {"components_apart", "the largest part, with a start, in bf16",
       Entry("bf16[60,3];bf16[50,3];bf16[]",
             "a = bf16[60,50,3] broadcast(p0), dimensions={0,2}\n"
             "  b = bf16[60,50,3] broadcast(p1), dimensions={1,2}\n"
             "  d = bf16[60,50,3] subtract(a, b)\n  s = bf16[60,50,3] abs(d)\n"
             "  ROOT r = bf16[60] reduce(s, p2), dimensions={1,2}, to_apply=most",
             Binary("most", "bf16", "maximum")),
       true, true},
      {"components_apart", "a product that is put together and taken apart",
       Entry("f32[60,50];f32[60,50];f32[60,50,2]",
             "s = f32[60,50] multiply(p0, p1)\n  d = f32[60,50] subtract(p0, p1)\n"
             "  r0 = f32[1,60,50] reshape(s)\n  r1 = f32[1,60,50] reshape(d)\n"
             "  c = f32[2,60,50] concatenate(r0, r1), dimensions={0}\n"
             "  t = f32[60,50,2] transpose(c), dimensions={1,2,0}\n"
             "  m = f32[60,50,2] multiply(t, p2)\n"
             "  f = f32[60,50,1] slice(m), slice={[0:60], [0:50], [1:2]}\n"
             "  zero = f32[] constant(0)\n"
             "  r = f32[60,50] reduce(m, zero), dimensions={2}, to_apply=add\n"
             "  ROOT p = (f32[60,50,1], f32[60,50]) tuple(f, r)",
             add)},
      {"components_apart", "a Jacobian, with what is 1 on its diagonal",
       Entry("f32[100,12,2];f32[12]",
             "i = s32[2,2] iota(), iota_dimension=0\n  j = s32[2,2] iota(), iota_dimension=1\n"
             "  e = pred[2,2] compare(i, j), direction=EQ\n  o = f32[2,2] convert(e)\n"
             "  k = f32[100,2,12,2] broadcast(o), dimensions={1,3}\n"
             "  x = f32[100,2,12,2] broadcast(p0), dimensions={0,2,3}\n"
             "  w = f32[100,2,12,2] broadcast(p1), dimensions={2}\n"
             "  a = f32[100,2,12,2] multiply(k, x)\n  b = f32[100,2,12,2] multiply(k, w)\n"
             "  c = f32[100,2,12,2] add(a, b)\n  s = f32[100,2,12,2] sine(c)\n"
             "  zero = f32[] constant(0)\n"
             "  ROOT r = f32[100,2,2] reduce(s, zero), dimensions={2}, to_apply=add",
             add)},
      {"components_apart", "constants, limits, other orders and sizes of 1",
       Entry("f32[60,3];f32[3,50]",
             "c = f32[3] constant({1, 0.5, -2})\n  b = f32[60,3] broadcast(c), dimensions={1}\n"
             "  m = f32[60,3] multiply(p0, b)\n  e = f32[60,1,3] reshape(m)\n"
             "  f = f32[60,3] reshape(e)\n  g = f32[60,50,3] broadcast(f), dimensions={0,2}\n"
             "  t = f32[50,3] transpose(p1), dimensions={1,0}\n"
             "  h = f32[60,50,3] broadcast(t), dimensions={1,2}\n  least = f32[] constant(-0.5)\n"
             "  n = f32[60,50,3] broadcast(least), dimensions={}\n"
             "  l = f32[60,50,3] clamp(n, h, g)\n"
             "  d = f32[60,50,3] add(g, l)\n  v = f32[60,50,3] reverse(d), dimensions={2}\n"
             "  u = f32[60,50,3] multiply(v, l)\n  zero = f32[] constant(0)\n"
             "  ROOT r = f32[60,50] reduce(u, zero), dimensions={2}, to_apply=add",
             add)},
      {"components_apart", "some of more components, one part from elsewhere",
       Entry("f32[12,5];f32[500,2]",
             "s = f32[12,2] slice(p0), slice={[0:12], [1:5:2]}\n"
             "  a = f32[500,12,2] broadcast(s), dimensions={1,2}\n"
             "  b = f32[500,12,2] broadcast(p1), dimensions={0,2}\n"
             "  d = f32[500,12,2] subtract(a, b)\n  one = f32[500,12,1] iota(), iota_dimension=1\n"
             "  c = f32[500,12,3] concatenate(d, one), dimensions={2}\n"
             "  q = f32[500,12,3] multiply(c, c)\n  zero = f32[] constant(0)\n"
             "  ROOT r = f32[500,12] reduce(q, zero), dimensions={2}, to_apply=add",
             add)},
      {"components_apart", "products of products with small matrices",
       Entry("f32[2000,3,3];f32[2000,3,3];f32[2000,3]",
             "m = f32[2000,3,3] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
             "  a = f32[2000,3,3] abs(m)\n"
             "  ROOT v = f32[2000,3] dot(a, p2), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={1}, rhs_contracting_dims={1}")},
      {"components_apart", "the largest of several vectors' products, and which, and its vector",
       Entry("f32[60,50,3];f32[60,50,2,2];f32[2,3]",
             "w = f32[60,50,2,3] dot(p1, p2), lhs_contracting_dims={3}, rhs_contracting_dims={0}\n"
             "  a = f32[60,50,1,3] reshape(p0)\n"
             "  c = f32[60,50,3,3] concatenate(a, w), dimensions={2}\n"
             "  d = f32[60,50,3] dot(c, p0), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, "
             "lhs_contracting_dims={3}, rhs_contracting_dims={2}\n"
             "  e = f32[60,50,6] concatenate(d, p0), dimensions={2}\n"
             "  i = s32[60,50,6] iota(), iota_dimension=2\n  low = f32[] constant(-inf)\n"
             "  z = s32[] constant(0)\n"
             "  r = (f32[60,50], s32[60,50]) reduce(e, i, low, z), dimensions={2}, "
             "to_apply=argmax\n"
             "  f = f32[60,50] get-tuple-element(r), index=0\n"
             "  k = s32[60,50] get-tuple-element(r), index=1\n"
             "  k1 = s32[60,50,1] reshape(k)\n"
             "  t = f32[60,50,1,3] gather(c, k1), offset_dims={2,3}, collapsed_slice_dims={}, "
             "start_index_map={2}, operand_batching_dims={0,1}, start_indices_batching_dims={0,1}, "
             "index_vector_dim=2, slice_sizes={1,1,1,3}\n"
             "  ROOT o = (f32[60,50], s32[60,50], f32[60,50,1,3]) tuple(f, k, t)",
             pick)},
      {"components_apart", "of nine that were three by three",
       Entry("f32[500,3];f32[500,3]",
             "a = f32[500,3,3] broadcast(p0), dimensions={0,2}\n"
             "  b = f32[500,3,3] broadcast(p1), dimensions={0,1}\n"
             "  m = f32[500,3,3] multiply(a, b)\n  n = f32[500,9] reshape(m)\n"
             "  c = f32[500,12] concatenate(n, p1), dimensions={1}\n"
             "  s = f32[500,12] abs(c)\n  low = f32[] constant(-inf)\n"
             "  ROOT r = f32[500] reduce(s, low), dimensions={1}, to_apply=most",
             Binary("most", "f32", "maximum"))},
      {"components_apart", "a component that is spread",
       Entry("f32[60,3]",
             "a = f32[60,1] slice(p0), slice={[0:60], [1:2]}\n  v = f32[60] reshape(a)\n"
             "  n = f32[60] negate(v)\n  r = f32[60,60] broadcast(n), dimensions={0}\n"
             "  c = f32[60,60] broadcast(v), dimensions={1}\n  d = f32[60,60] add(r, c)\n"
             "  e = f32[60,60] abs(d)\n  ROOT l = f32[60,60] log-plus-one(e)")},
      {"components_apart", "a component that stays as small",
       Entry("f32[60,3];f32[60]",
             "a = f32[60,1] slice(p0), slice={[0:60], [1:2]}\n  v = f32[60] reshape(a)\n"
             "  ROOT s = f32[60] add(v, p1)"),
       false},
      {"components_apart", "a product alone",
       Entry("f32[600,3,3];f32[600,3]",
             "ROOT v = f32[600,3] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
       false},
      {"components_apart", "one after the other in memory already",
       Entry("f32[3,64,64]",
             "t = f32[3,64,64] tanh(p0)\n  m = f32[3,64,64] multiply(t, t)\n"
             "  zero = f32[] constant(0)\n"
             "  ROOT r = f32[64,64] reduce(m, zero), dimensions={0}, to_apply=add",
             add),
       false},
      {"components_apart", "one slice of what is wanted as a whole too",
       Entry("f32[3,64,64];f32[64,64]",
             "b = f32[3,64,64] broadcast(p1), dimensions={1,2}\n"
             "  m = f32[3,64,64] multiply(p0, b)\n"
             "  s = f32[1,64,64] slice(m), slice={[1:2], [0:64], [0:64]}\n"
             "  ROOT t = (f32[3,64,64], f32[1,64,64]) tuple(m, s)"),
       false},
      {"components_apart", "few points",
       Entry("f32[6,3];f32[5,3]",
             "a = f32[6,5,3] broadcast(p0), dimensions={0,2}\n"
             "  b = f32[6,5,3] broadcast(p1), dimensions={1,2}\n"
             "  d = f32[6,5,3] subtract(a, b)\n  zero = f32[] constant(0)\n"
             "  ROOT r = f32[6,5] reduce(d, zero), dimensions={2}, to_apply=add",
             add),
       false},
  };
}

}  // namespace hone::compiler
