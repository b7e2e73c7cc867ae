// Dots, sums and diagonals that are less work in another order, and those that are not.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// name = pred[size,size]: true on the diagonal, as JAX writes it.
std::string Diagonal(const std::string& name, const std::string& size = "48") {
  const std::string whole = "[" + size + "," + size + "]";
  return name + "i = s32[" + size + "] iota(), iota_dimension=0\n  " + name + "r = s32" + whole +
         " broadcast(" + name + "i), dimensions={0}\n  " + name + "c = s32" + whole +
         " broadcast(" + name + "i), dimensions={1}\n  " + name + " = pred" + whole + " compare(" +
         name + "r, " + name + "c), direction=EQ\n  ";
}

// zeros = f32[48,48].
constexpr char kZeros[] =
    "zero = f32[] constant(0)\n  zeros = f32[48,48] broadcast(zero), dimensions={}\n  ";

// o: a b^T of vectors.
std::string Outer(const std::string& shape, const std::string& a, const std::string& b) {
  return "ob0 = " + shape + " broadcast(" + a + "), dimensions={0}\n  ob1 = " + shape +
         " broadcast(" + b + "), dimensions={1}\n  o = " + shape + " multiply(ob0, ob1)\n  ";
}

// The square of the square of the .. of p0, so often: q.
std::string Squares(const std::string& shape, int times) {
  std::string text, last = "p0";
  for (int k = 0; k < times; ++k) {
    const std::string name = k + 1 < times ? "q" + std::to_string(k) : "q";
    text += name + " = " + shape + " multiply(" + last + ", " + last + ")\n  ";
    last = name;
  }
  return text;
}

std::string Dot(const std::string& name, const std::string& shape, const std::string& operands,
                int left = 1, int right = 0) {
  return name + " = " + shape + " dot(" + operands + "), lhs_contracting_dims={" +
         std::to_string(left) + "}, rhs_contracting_dims={" + std::to_string(right) + "}\n  ";
}

// w = rows,2*columns: the halves of bytes q, one after the other.
std::string Unpacked(const std::string& q, const std::string& rows, const std::string& columns) {
  const std::string bytes = "u8[" + rows + "," + columns + "]", one = "u8[" + rows + "," + columns;
  return "f0 = u8[] constant(15)\n  f = " + bytes +
         " broadcast(f0), dimensions={}\n  l = " + bytes + " and(" + q + ", f)\n  l1 = " + one +
         ",1] reshape(l)\n  g0 = u8[] constant(4)\n  g = " + bytes +
         " broadcast(g0), dimensions={}\n  h = " + bytes + " shift-right-logical(" + q +
         ", g)\n  h1 = " + one + ",1] reshape(h)\n  lh = " + one +
         ",2] concatenate(l1, h1), dimensions={2}\n  w = u8[" + rows + "," +
         std::to_string(2 * std::stoi(columns)) + "] reshape(lh)\n  ";
}

}  // namespace

std::vector<Case> ContractionCases() {
  const std::string add = Binary("add", "f32", "add");
  const std::string matrix = "f32[48,48]", two = matrix + ";" + matrix;
  const std::string places =
      "i = s32[48] iota(), iota_dimension=0\n  ic = s32[48,1] reshape(i)\n"
      "  ij = s32[48,2] concatenate(ic, ic), dimensions={1}\n  ";
  const auto contraction = [](const std::string& label, const std::string& text,
                              bool applies = true) {
    return Case{"contraction_order", label, text, applies};
  };
  // log(sum of exp(z)) along a dimension, as jax.nn.logsumexp writes it, of what `made` makes.
  const auto log_sum_exp = [](const std::string& type, const std::string& of, int along,
                              const std::string& left, const std::string& back,
                              const std::string& made, const std::string& parameters,
                              const std::string& last = "ROOT y = T add(g, c)") {
    const std::string z = type + of, m = type + left;
    std::string end = last;
    end.replace(end.find("= T ") + 2, 1, m);
    return Entry(parameters,
                 made + "least = " + type + "[] constant(-inf)\n  zero = " + type +
                     "[] constant(0)\n  m = " + m + " reduce(z, least), dimensions={" +
                     std::to_string(along) + "}, to_apply=most\n  f = pred" + left +
                     " is-finite(m)\n  o = " + m + " broadcast(zero), dimensions={}\n  c = " + m +
                     " select(f, m, o)\n  b = " + z + " broadcast(c), dimensions={" + back +
                     "}\n  d = " + z + " subtract(z, b)\n  e = " + z + " exponential(d)\n  s = " +
                     m + " reduce(e, zero), dimensions={" + std::to_string(along) +
                     "}, to_apply=add\n  a = " + m + " abs(s)\n  g = " + m + " log(a)\n  " + end,
                 Binary("most", type, "maximum") + Binary("add", type, "add"));
  };
  const std::string matrix_and_vector =
      "v = f32[40,60] broadcast(p1), dimensions={1}\n  z = f32[40,60] add(p0, v)\n  ";
  return {
      {"log_sum_exp_dot", "a matrix and a vector of each of some",
       log_sum_exp("f32", "[9,40,60]", 2, "[9,40]", "0,1",
                   "v = f32[9,40,60] broadcast(p1), dimensions={0,2}\n"
                   "  w = f32[9,40,60] broadcast(p0), dimensions={1,2}\n"
                   "  z = f32[9,40,60] add(v, w)\n  ",
                   "f32[40,60];f32[9,60]"),
       true, true},
      {"log_sum_exp_dot", "quotients of differences, of doubles, the other way round",
       log_sum_exp("f64", "[60,9,40]", 0, "[9,40]", "1,2",
                   "v = f64[60,9,40] broadcast(p1), dimensions={1,0}\n"
                   "  w = f64[60,9,40] broadcast(p0), dimensions={2,0}\n"
                   "  u = f64[60,9,40] broadcast(p2), dimensions={1,2}\n"
                   "  r = f64[60,9,40] subtract(v, w)\n  t = f64[] constant(0.5)\n"
                   "  q = f64[60,9,40] broadcast(t), dimensions={}\n"
                   "  x = f64[60,9,40] divide(r, q)\n  n = f64[60,9,40] negate(u)\n"
                   "  z = f64[60,9,40] add(x, n)\n  ",
                   "f64[40,60];f64[9,60];f64[9,40]", "ROOT y = T add(c, g)"),
       true, true},
      {"log_sum_exp_dot", "of batches, some terms of one side",
       log_sum_exp("f32", "[3,20,30,7]", 2, "[3,20,7]", "0,1,3",
                   "v = f32[3,20,30,7] broadcast(p0), dimensions={0,1,2}\n"
                   "  w = f32[3,20,30,7] broadcast(p1), dimensions={0,2,3}\n"
                   "  u = f32[3,20,30,7] broadcast(p2), dimensions={2}\n"
                   "  x = f32[3,20,30,7] add(v, w)\n  z = f32[3,20,30,7] add(x, u)\n  ",
                   "f32[3,20,30];f32[3,30,7];f32[30]"),
       true, true},
      {"log_sum_exp_dot", "as many exponentials in the matrix",
       log_sum_exp("f32", "[40,60]", 1, "[40]", "0", matrix_and_vector, "f32[40,60];f32[60]"),
       false},
      {"log_sum_exp_dot", "nothing added to the logarithm",
       log_sum_exp("f32", "[9,40,60]", 2, "[9,40]", "0,1",
                   "v = f32[9,40,60] broadcast(p1), dimensions={0,2}\n"
                   "  w = f32[9,40,60] broadcast(p0), dimensions={1,2}\n"
                   "  z = f32[9,40,60] add(v, w)\n  ",
                   "f32[40,60];f32[9,60]", "ROOT y = T add(g, o)"),
       false},
      {"dot_of_interleaved", "weights of 4 bits, scaled by columns",
       Entry("f32[3,64];u8[64,40];f32[80]",
             Unpacked("p1", "64", "40") +
                 "x = f32[64,80] convert(w)\n  s = f32[64,80] broadcast(p2), dimensions={1}\n  y = "
                 "f32[64,80] multiply(x, s)\n  ROOT r = f32[3,80] dot(p0, y), "
                 "lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"dot_of_interleaved", "in groups of rows, narrow",
       Entry("f16[3,64];u8[64,40];u8[4,80]",
             Unpacked("p1", "64", "40") +
                 "x = f16[64,80] convert(w)\n  g3 = f16[4,16,80] reshape(x)\n  z0 = f16[4,80] "
                 "convert(p2)\n  z = f16[4,16,80] broadcast(z0), dimensions={0,2}\n  d = "
                 "f16[4,16,80] subtract(g3, z)\n  y = f16[64,80] reshape(d)\n  ROOT r = f16[3,80] "
                 "dot(p0, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"dot_of_interleaved", "along what is summed, turned round, integers",
       Entry("s32[80,3];u8[64,40]",
             Unpacked("p1", "64", "40") +
                 "x = s32[64,80] convert(w)\n  y = s32[80,64] transpose(x), dimensions={1,0}\n  "
                 "ROOT r = s32[3,64] dot(p0, y), lhs_contracting_dims={0}, "
                 "rhs_contracting_dims={0}")},
      {"dot_of_interleaved", "both operands, as rotary positions have it",
       Entry(
           "f32[2,160,8];f32[2,160,8];f32[2,160,16]",
           "a = f32[2,160,8,1] reshape(p0)\n  n = f32[2,160,8] negate(p1)\n  b = f32[2,160,8,1] "
           "reshape(n)\n  c = f32[2,160,8,2] concatenate(b, a), dimensions={3}\n  q = "
           "f32[2,160,16] reshape(c)\n  d = f32[2,160,8,2] concatenate(a, b), dimensions={3}\n  k "
           "= f32[2,160,16] reshape(d)\n  ROOT r = f32[2,160,160] dot(q, k), lhs_batch_dims={0}, "
           "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}")},
      {"dot_of_interleaved", "with a large array",
       Entry("f32[160,80];u8[64,40]",
             Unpacked("p1", "64", "40") +
                 "x = f32[64,80] convert(w)\n  ROOT r = f32[160,64] dot(p0, x), "
                 "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
       false},
      {"dot_of_interleaved", "a large result",
       Entry("f32[64,64];u8[64,40]",
             Unpacked("p1", "64", "40") +
                 "x = f32[64,80] convert(w)\n  ROOT r = f32[64,80] dot(p0, x), "
                 "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"dot_of_parts", "of pairs",
       Entry("f32[6,5];f32[10,4]",
             "a = f32[6,6,5] broadcast(p0), dimensions={0,2}\n  b = f32[6,6,5] broadcast(p0), "
             "dimensions={1,2}\n  c = f32[6,6,10] concatenate(a, b), dimensions={2}\n  ROOT r = "
             "f32[6,6,4] dot(c, p1), lhs_contracting_dims={2}, rhs_contracting_dims={0}")},
      {"dot_of_parts", "of broadcasts, in a batch, the second operand",
       Entry(
           "bf16[2,4,9];bf16[2,5];bf16[2,4,8]",
           "b = bf16[2,5,8] broadcast(p1), dimensions={0,1}\n  a = bf16[2,4,8] add(p2, p2)\n  c = "
           "bf16[2,9,8] concatenate(a, b), dimensions={1}\n  ROOT r = bf16[2,4,8] dot(p0, c), "
           "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
           "rhs_contracting_dims={1}")},
      {"dot_of_parts", "of rows and a vector for all of them, integers",
       Entry("s32[30,3];s32[4];s32[5,7]",
             "b = s32[30,4] broadcast(p1), dimensions={1}\n  c = s32[30,7] concatenate(p0, b), "
             "dimensions={1}\n  ROOT r = s32[30,5] dot(c, p2), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={1}")},
      {"dot_of_parts", "gradient by the matrix that pairs are multiplied by",
       Entry("f32[6,5];f32[6,6,4]",
             "a = f32[6,6,5] broadcast(p0), dimensions={0,2}\n  b = f32[6,6,5] broadcast(p0), "
             "dimensions={1,2}\n  c = f32[6,6,10] concatenate(a, b), dimensions={2}\n  ROOT r = "
             "f32[10,4] dot(c, p1), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}")},
      {"dot_of_parts", "along what is not summed, the second operand, one part a broadcast",
       Entry("f32[3,5];f32[4,5];f32[5]",
             "b = f32[6,5] broadcast(p2), dimensions={1}\n  c = f32[10,5] concatenate(p1, b), "
             "dimensions={0}\n  ROOT r = f32[3,10] dot(p0, c), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={1}")},
      {"dot_of_parts", "a broadcast that turns dimensions round",
       Entry("f32[4,6,5];f32[6,3,4,5];f32[10,2]",
             "b = f32[6,3,4,5] broadcast(p0), dimensions={2,0,3}\n  c = f32[6,3,4,10] "
             "concatenate(b, p1), dimensions={3}\n  ROOT r = f32[6,3,4,2] dot(c, p2), "
             "lhs_contracting_dims={3}, rhs_contracting_dims={0}")},
      {"dot_of_parts", "of rows at both ends of edges",
       Entry("f32[6,5];s32[20,1];s32[20,1];f32[10,7]",
             "s = f32[20,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, "
             "start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}\n  t = f32[20,5] "
             "gather(p0, p2), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
             "index_vector_dim=1, slice_sizes={1,5}\n  c = f32[20,10] concatenate(s, t), "
             "dimensions={1}\n  ROOT r = f32[20,7] dot(c, p3), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}")},
      {"dot_of_parts", "no part is a broadcast or looked up",
       Entry("f32[8,5];f32[8,4];f32[9,7]",
             "c = f32[8,9] concatenate(p0, p1), dimensions={1}\n  ROOT r = f32[8,7] dot(c, p2), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       false},
      {"dot_of_parts", "put together along the batch",
       Entry(
           "f32[2,3,5];f32[4,5,2]",
           "c = f32[4,3,5] concatenate(p0, p0), dimensions={0}\n  ROOT r = f32[4,3,2] dot(c, p1), "
           "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
           "rhs_contracting_dims={1}"),
       false},
      contraction("a matrix twice, then a vector",
                  Entry("f64[48,48];f64[48]", Dot("d", "f64[48,48]", "p0, p0") +
                                                  "t = f64[48,48]{0,1} transpose(d), "
                                                  "dimensions={1,0}\n  ROOT " +
                                                  Dot("r", "f64[48]", "p1, t", 0, 0))),
      contraction("the right order already",
                  Entry("f32[48,48];f32[48]",
                        Dot("d", "f32[48]", "p0, p1") + "ROOT " + Dot("r", "f32[48]", "p0, d")),
                  false),
      contraction("what would take for ever to read",
                  Entry("f32[48,48];f32[48]",
                        Squares("f32[48,48]", 40) + "ROOT " + Dot("r", "f32[48]", "q, p1")),
                  false),
      contraction("gradients of linear attention, which both need a product",
                  Entry("f64[96,4];f64[96,4];f64[96,4];f64[96,4]",
                        Dot("s", "f64[96,96]", "p0, p1", 1, 1) + Dot("q", "f64[96,4]", "s, p2") +
                            Dot("k", "f64[96,4]", "s, p3", 0, 0) +
                            "ROOT r = (f64[96,4], f64[96,4]) tuple(q, k)")),
      contraction(
          "what others need as well",
          Entry("f32[48,48];f32[48]", Dot("d", matrix, "p0, p0") + Dot("v", "f32[48]", "d, p1") +
                                          "ROOT r = (f32[48,48], f32[48]) tuple(d, v)"),
          false),
      contraction("linear attention, batches, in complex numbers",
                  Entry("f64[2,64,4];f64[2,64,4];f64[2,64,4]",
                        "q = c128[2,64,4] complex(p0, p1)\n  k = c128[2,64,4] complex(p1, p2)\n"
                        "  v = c128[2,64,4] complex(p2, p0)\n"
                        "  s = c128[2,64,64] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                        "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n"
                        "  o = c128[2,64,4] dot(s, v), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                        "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
                        "  re = f64[2,64,4] real(o)\n  im = f64[2,64,4] imag(o)\n"
                        "  ROOT r = (f64[2,64,4], f64[2,64,4]) tuple(re, im)")),
      contraction("trace of a product",
                  Entry(two,
                        Diagonal("e") + kZeros + Dot("d", matrix, "p0, p1") +
                            "s = f32[48,48] select(e, d, zeros)\n"
                            "  ROOT r = f32[] reduce(s, zero), dimensions={0,1}, to_apply=add",
                        add)),
      contraction("trace, scaled, of a sum with something else",
                  Entry(two,
                        Diagonal("e") + kZeros + Dot("d", matrix, "p0, p1") +
                            "a = f32[48,48] add(d, p0)\n  s = f32[48,48] select(e, a, zeros)\n"
                            "  ROOT r = f32[] reduce(s, zero), dimensions={0,1}, to_apply=add",
                        add),
                  false),
      contraction("diagonal of a product",
                  Entry(two, places + Dot("d", matrix, "p0, p1", 1, 1) +
                                 "ROOT r = f32[48] gather(d, ij), offset_dims={}, "
                                 "collapsed_slice_dims={0,1}, start_index_map={0,1}, "
                                 "index_vector_dim=1, slice_sizes={1,1}")),
      contraction("diagonals of products, batches",
                  Entry("f32[48,2,48];f32[48,2,48]",
                        places + "d = f32[2,48,48] dot(p0, p1), lhs_batch_dims={1}, "
                                 "rhs_batch_dims={1}, lhs_contracting_dims={0}, "
                                 "rhs_contracting_dims={0}\n"
                                 "  ROOT r = f32[2,48] gather(d, ij), offset_dims={0}, "
                                 "collapsed_slice_dims={1,2}, start_index_map={1,2}, "
                                 "index_vector_dim=1, slice_sizes={2,1,1}")),
      contraction("products of outer products of a sum, to which the identity is no diagonal",
                  Entry("f64[3,20];f64[16,3,20];f64[20];f64[16,3,20]",
                        Diagonal("e", "3") + "one = f64[3,3] convert(e)\n  " +
                            Dot("d", "f64[3,20]", "one, p0") +
                            "b = f64[16,3,20] broadcast(d), dimensions={1,2}\n  d1 = f64[16,3,20] "
                            "multiply(b, p1)\n  d2 = f64[16,3,20] multiply(d1, p3)\n"
                            "  s = f64[16,3,20] add(d1, d2)\n"
                            "  o = f64[16,3,20,20] dot(s, p2), lhs_contracting_dims={}, "
                            "rhs_contracting_dims={}\n  f = f64[48,400] reshape(o)\n  ROOT " +
                            Dot("r", "f64[48,48]", "f, f", 1, 1))),
      contraction("what is gathered elsewhere",
                  Entry(two,
                        "i = s32[48] iota(), iota_dimension=0\n  ic = s32[48,1] reshape(i)\n"
                        "  o = s32[48,1] reverse(ic), dimensions={0}\n"
                        "  ij = s32[48,2] concatenate(ic, o), dimensions={1}\n  " +
                            Dot("d", matrix, "p0, p1") +
                            "ROOT r = f32[48] gather(d, ij), offset_dims={}, "
                            "collapsed_slice_dims={0,1}, start_index_map={0,1}, "
                            "index_vector_dim=1, slice_sizes={1,1}"),
                  false),
      contraction("a diagonal matrix in the middle",
                  Entry(two + ";f32[48]",
                        Diagonal("e") + kZeros + "vb = f32[48,48] broadcast(p2), dimensions={0}\n" +
                            "  v = f32[48,48] select(e, vb, zeros)\n  " +
                            Dot("d", matrix, "p0, v") + "ROOT " + Dot("r", matrix, "d, p1"))),
      contraction("the gradient of a diagonal, in doubles",
                  Entry("f64[48,48];f64[48]",
                        places +
                            "zero = f64[] constant(0)\n  zeros = f64[48,48] broadcast(zero), "
                            "dimensions={}\n  s = f64[48,48] scatter(zeros, ij, p1), "
                            "update_window_dims={}, inserted_window_dims={0,1}, "
                            "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, "
                            "to_apply=sum\n  ROOT " +
                            Dot("r", "f64[48,48]", "p0, s"),
                        Binary("sum", "f64", "add"))),
      contraction(
          "a matrix of two vectors, divided",
          Entry("f32[48,48];f32[48];f32[48];f32[]",
                Outer(matrix, "p1", "p2") + "b = f32[48,48] broadcast(p3), dimensions={}\n" +
                    "  q = f32[48,48] divide(o, b)\n  ROOT " + Dot("r", matrix, "q, p0"))),
      contraction(
          "as quasi-Newton methods update, from both sides",
          Entry("f64[96,96];f64[96];f64[96]",
                Diagonal("e", "96") + "one = f64[96,96] convert(e)\n  " +
                    Outer("f64[96,96]", "p1", "p2") + "m = f64[96,96] subtract(one, o)\n  " +
                    Dot("d", "f64[96,96]", "m, p0") +
                    "t = f64[96,96] transpose(m), dimensions={1,0}\n  ROOT " +
                    Dot("r", "f64[96,96]", "d, t"))),
      contraction("without its means",
                  Entry(matrix, Diagonal("e") +
                                    "one = f32[48,48] convert(e)\n  m = f32[] constant(0.0208)\n"
                                    "  mb = f32[48,48] broadcast(m), dimensions={}\n"
                                    "  c = f32[48,48] subtract(one, mb)\n  ROOT " +
                                    Dot("r", matrix, "c, p0"))),
      contraction("a sum of any two matrices",
                  Entry(two + ";f32[48]",
                        "s = f32[48,48] add(p0, p1)\n  ROOT " + Dot("r", "f32[48]", "s, p2")),
                  false),
      contraction("a sum of products of what is spread",
                  Entry("f32[20,3,40];f32[16,40]",
                        "x = f32[20,3,16,40] broadcast(p0), dimensions={0,1,3}\n"
                        "  y = f32[20,3,16,40] broadcast(p1), dimensions={2,3}\n"
                        "  m = f32[20,3,16,40] multiply(x, y)\n  n = f32[20,3,16,40] negate(m)\n"
                        "  zero = f32[] constant(0)\n"
                        "  ROOT r = f32[20,3,16] reduce(n, zero), dimensions={3}, to_apply=add",
                        add)),
      contraction("a sum of products of what is read once",
                  Entry("f32[64,128];f32[128]",
                        "y = f32[64,128] broadcast(p1), dimensions={1}\n"
                        "  m = f32[64,128] multiply(p0, y)\n  zero = f32[] constant(0)\n"
                        "  ROOT r = f32[64] reduce(m, zero), dimensions={1}, to_apply=add",
                        add),
                  false),
      contraction("a product of sums",
                  Entry(two,
                        Dot("d", matrix, "p0, p1") +
                            "zero = f32[] constant(0)\n"
                            "  ROOT r = f32[48] reduce(d, zero), dimensions={0}, to_apply=add",
                        add)),
      contraction("a product with what is the same everywhere",
                  Entry("f32[48,48];f32[]", "b = f32[48,48] broadcast(p1), dimensions={}\n  ROOT " +
                                                Dot("r", matrix, "b, p0"))),
      contraction("what repeats is not repeated, narrow",
                  Entry("bf16[2,4,1,32];bf16[2,2,32,64]",
                        "k = bf16[2,2,2,32,64] broadcast(p1), dimensions={0,1,3,4}\n"
                        "  kr = bf16[2,4,32,64] reshape(k)\n"
                        "  ROOT r = bf16[2,4,1,64] dot(p0, kr), lhs_batch_dims={0,1}, "
                        "rhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
                        "rhs_contracting_dims={2}")),
      contraction("a Kronecker product",
                  Entry("f32[6,8];f32[10,12];f32[96]",
                        "a = f32[6,10,8,12] broadcast(p0), dimensions={0,2}\n"
                        "  b = f32[6,10,8,12] broadcast(p1), dimensions={1,3}\n"
                        "  m = f32[6,10,8,12] multiply(a, b)\n  k = f32[60,96] reshape(m)\n"
                        "  ROOT " +
                            Dot("r", "f32[60]", "k, p2"))),
      contraction("a product with nothing",
                  Entry(matrix, std::string(kZeros) + "ROOT " + Dot("r", matrix, "p0, zeros"))),
      contraction("the sum of a sum over what is not there",
                  Entry("f32[64,3];f32[3,64]",
                        Dot("d", "f32[64,64]", "p0, p1") +
                            "b = f32[64,5,64] broadcast(d), dimensions={0,2}\n"
                            "  zero = f32[] constant(0)\n"
                            "  ROOT r = f32[64] reduce(b, zero), dimensions={1,2}, to_apply=add",
                        add)),
  };
}

}  // namespace hone::compiler
