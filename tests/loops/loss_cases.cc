// Programs whose rows are taken by several, as a loss and its gradient are.
#include "program_cases.h"

namespace hone::loops {
namespace {

// Rows of x, [32,300], less their largest, and the exponentials of that.
const std::string kExponentials =
    "  x = f32[32,300] parameter(0)\n"
    "  m = f32[32] reduce(x, least), dimensions={1}, to_apply=maximum_of\n"
    "  mb = f32[32,300] broadcast(m), dimensions={0}\n"
    "  s = f32[32,300] subtract(x, mb)\n  e = f32[32,300] exponential(s)\n";
// A row-wise log-softmax in pieces that a loss and its gradient share; t are the sums of e.
const std::string kShared =
    kExponentials +
    "  t = f32[32] reduce(e, zero), dimensions={1}, to_apply=add_of\n"
    "  l = f32[32] log(t)\n  lb = f32[32,300] broadcast(l), dimensions={0}\n"
    "  p = f32[32,300] subtract(s, lb)\n";

// Which of 300 a row is of.
std::string OneHot(const std::string& labels, const std::string& compare = "direction=EQ") {
  const std::string integer = labels.substr(0, labels.find('['));
  return "  y = " + labels + " parameter(1)\n  c = " + integer +
         "[1,300] iota(), iota_dimension=1\n  cr = " + integer +
         "[300] reshape(c)\n  cb = " + integer +
         "[32,300] broadcast(cr), dimensions={1}\n  yb = " + integer +
         "[32,300] broadcast(y), dimensions={0}\n  h = pred[32,300] compare(yb, cb), " + compare +
         "\n";
}

// Of a product's elements, by Horner's rule.
std::string Polynomial(int terms) {
  std::string text =
      "  a = f32[64,80] parameter(0)\n  b = f32[80,96] parameter(1)\n"
      "  d = f32[64,96] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  x = f32[64,96] tanh(d)\n  p0 = f32[64,96] tanh(x)\n";
  for (int i = 1; i <= terms; ++i) {
    const std::string n = std::to_string(i), before = "p" + std::to_string(i - 1);
    text += "  k" + n + " = f32[] constant(0." + n + ")\n  b" + n + " = f32[64,96] broadcast(k" +
            n + "), dimensions={}\n  m" + n + " = f32[64,96] multiply(" + before + ", x)\n  " +
            (i == terms ? "ROOT " : "") + "p" + n + " = f32[64,96] add(m" + n + ", b" + n + ")\n";
  }
  return text;
}

constexpr char kSelected[] =
    "  zb = f32[32,300] broadcast(zero), dimensions={}\n"
    "  o = f32[32,300] select(h, p, zb)\n"
    "  loss = f32[32] reduce(o, zero), dimensions={1}, to_apply=add_of\n";

constexpr char kGradient[] =
    "  tb = f32[32,300] broadcast(t), dimensions={0}\n  q = f32[32,300] divide(e, tb)\n"
    "  hf = f32[32,300] convert(h)\n  g = f32[32,300] subtract(q, hf)\n";

}  // namespace

std::vector<Case> Losses() {
  const std::string both = "  ROOT r = (f32[32], f32[32,300]) tuple(loss, g)\n";
  return {
      {"loss",
       Program("f32",
               kShared + OneHot("s32[32]") + kSelected + "  ROOT r = f32[32] negate(loss)\n"),
       1, "equal"},
      {"loss_and_gradient",
       Program("f32", kShared + OneHot("s32[32]") + kSelected + kGradient + both), 3, "equal",
       "pred"},
      {"loss_of_long_labels",
       Program("f32", kShared + OneHot("s64[32]") + kSelected + kGradient + both), 3, "equal",
       "pred"},
      {"loss_of_all_up_to_a_label",
       Program("f32", kShared + OneHot("s16[32]", "direction=GE") + kSelected + kGradient + both),
       3, "less_equal v", "pred"},
      {"labels_that_cannot_count_so_far",
       Program("f32", kShared + OneHot("u8[32]") + kSelected + kGradient + both), 4,
       "reduce_sum i0", "equal"},
      {"labels_by_row_alone",
       Program("f32", "  x = f32[32,300] parameter(0)\n" + OneHot("s32[32]") +
                          "  hf = f32[32,300] convert(h)\n  q = f32[32,300] multiply(x, hf)\n"
                          "  ROOT r = f32[32] reduce(q, zero), dimensions={1}, to_apply=add_of\n"),
       1, "equal"},
      // A gather of few takes them from what XLA computes of them.
      {"labels_that_are_looked_up",
       Program("f32", kShared +
                          "  y = s32[32,2] parameter(1)\n"
                          "  loss = f32[32] gather(s, y), offset_dims={}, "
                          "collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, "
                          "slice_sizes={1,1}\n"
                          "  tb = f32[32,300] broadcast(t), dimensions={0}\n"
                          "  g = f32[32,300] divide(e, tb)\n" +
                          both),
       3, "exp v"},
      // An erfc that is written out is as long.
      {"product_with_a_long_polynomial", Program("f32", Polynomial(60)), 1, "output v", "",
       kProductPass},
      // As JAX scatters the gradient of take_along_axis.
      {"scattered_one_a_row",
       Program("f32", kExponentials +
                          "  y = s32[32,1,1] parameter(1)\n  u = f32[32,1] parameter(2)\n"
                          "  zb = f32[32,300] broadcast(zero), dimensions={}\n"
                          "  o = f32[32,300] scatter(zb, y, u), update_window_dims={}, "
                          "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
                          "input_batching_dims={0}, scatter_indices_batching_dims={0}, "
                          "index_vector_dim=2, to_apply=add_of\n"
                          "  w = f32[32] reduce(o, zero), dimensions={1}, to_apply=add_of\n"
                          "  wb = f32[32,300] broadcast(w), dimensions={0}\n"
                          "  q = f32[32,300] multiply(wb, e)\n"
                          "  ROOT r = f32[32,300] add(o, q)\n"),
       1, "equal"},
      // What is made of two arrays, for two, is in memory.
      {"what_is_made_of_two_is_not_made_again",
       Program("f32",
               "  a = f32[32,300] parameter(0)\n  b = f32[32,300] parameter(1)\n"
               "  x = f32[32,300] multiply(a, b)\n"
               "  m = f32[32] reduce(x, zero), dimensions={1}, to_apply=add_of\n"
               "  mb = f32[32,300] broadcast(m), dimensions={0}\n"
               "  s = f32[32,300] subtract(x, mb)\n"
               "  n = f32[32] reduce(x, least), dimensions={1}, to_apply=maximum_of\n"
               "  ROOT r = (f32[32], f32[32,300]) tuple(n, s)\n"),
       2, "task kernel;input i0 f32[32,300];v0 = reduce_max", "input i1 f32[32,300]"},
      {"mask_in_memory",
       Program("f32",
               "  x = f32[32,300] parameter(0)\n  h = pred[32,300] parameter(1)\n"
               "  zb = f32[32,300] broadcast(zero), dimensions={}\n"
               "  o = f32[32,300] select(h, x, zb)\n"
               "  ROOT r = f32[32] reduce(o, zero), dimensions={1}, to_apply=add_of\n"),
       1, "input i0 pred[32,300]"},
      {"one_predicate_for_all",
       Program("f32",
               "  x = f32[32,300] parameter(0)\n  c = f32[] parameter(1)\n"
               "  h = pred[] compare(c, zero), direction=GT\n"
               "  hb = pred[32,300] broadcast(h), dimensions={}\n"
               "  zb = f32[32,300] broadcast(zero), dimensions={}\n"
               "  o = f32[32,300] select(hb, x, zb)\n"
               "  ROOT r = f32[32] reduce(o, zero), dimensions={1}, to_apply=add_of\n"),
       1, "input i0 pred[1]"},
      {"scattered_onto_a_product",
       Program("f32",
               "  a = f32[96,64] parameter(0)\n  b = f32[64,80] parameter(1)\n"
               "  i = s32[20,1] parameter(2)\n  u = f32[20,80] parameter(3)\n"
               "  zb = f32[96,80] broadcast(zero), dimensions={}\n"
               "  s = f32[96,80] scatter(zb, i, u), update_window_dims={1}, "
               "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
               "to_apply=add_of\n"
               "  d = f32[96,80] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
               "  ROOT r = f32[96,80] add(s, d)\n"),
       1, "output y", "input i0", kProductPass},
  };
}

}  // namespace hone::loops
