// Kernels within programs: what implement:loops and the like make of a program computes what the
// program does.
#include "support/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/comparison.h"
#include "core/kernel_elements.h"
#include "kernel_pool.h"
#include "loops/kernel_file.h"
#include "program_cases.h"

namespace hone::loops {
namespace {

using hone::testing::MustLoad;
using hone::testing::PassNamed;
using ::testing::HasSubstr;
using ::testing::Not;

// A layer norm with its gain and bias behind a residual sum.
std::string LayerNorm(int rows, int size) {
  const std::string n = std::to_string(size), row = "f32[1," + std::to_string(rows) + "]",
                    all = "f32[1," + std::to_string(rows) + "," + n + "]", one = "f32[" + n + "]";
  return "  y = " + all + " parameter(0)\n  w = " + all + " parameter(1)\n  g = " + one +
         " parameter(2)\n  c = " + one + " parameter(3)\n  x = " + all +
         " add(y, w)\n  k = f32[] " + "constant(" + n + ")\n  kb = " + row +
         " broadcast(k), dimensions={}\n  a = " + row +
         " reduce(x, zero), dimensions={2}, to_apply=add_of\n  m = " + row +
         " divide(a, kb)\n  mb = " + all + " broadcast(m), dimensions={0,1}\n  d = " + all +
         " subtract(x, mb)\n  q = " + all + " multiply(d, d)\n  v = " + row +
         " reduce(q, zero), dimensions={2}, to_apply=add_of\n  u = " + row +
         " divide(v, kb)\n  ep = f32[] constant(1e-05)\n  eb = " + row +
         " broadcast(ep), dimensions={}\n  ue = " + row + " add(u, eb)\n  f = " + row +
         " rsqrt(ue)\n  fb = " + all + " broadcast(f), dimensions={0,1}\n  o = " + all +
         " multiply(d, fb)\n  gb = " + all + " broadcast(g), dimensions={2}\n  og = " + all +
         " multiply(o, gb)\n  cb = " + all + " broadcast(c), dimensions={2}\n  ROOT r = " + all +
         " add(og, cb)\n";
}

// What reads each element type: converts a narrow one, and computes in another.
std::vector<Case> Elements() {
  static std::vector<std::string> names;
  std::vector<Case> cases;
  for (const ElementInfo& info : kElements) names.push_back(std::string("of_") + info.name);
  for (const ElementInfo& info : kElements) {
    if (info.stored() != std::string_view(info.name)) continue;  // no type of XLA's
    const std::string wide = InfoOf(WideOf(info.element)).name, type = info.name;
    const std::string x = "  x = " + type + "[64,300] parameter(0)\n",
                      y = "  y = " + wide + "[64,300] " + (info.narrow() ? "convert" : "negate") +
                          "(x)\n";
    std::string text = Program(wide, x + y + "  ROOT r = " + wide +
                                         "[64] reduce(y, zero), dimensions={1}, to_apply=add_of\n");
    if (WideOf(info.element) == Element::kI32) {  // of integers, running sums are made
      text =
          "HloModule test\nadd_of {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n"
          "  ROOT c = s32[] add(a, b)\n}\nENTRY main {\n  zero = s32[] constant(0)\n" +
          x +
          "  ROOT r = s32[64,300] reduce-window(x, zero), window={size=1x300 pad=0_0x299_0}, "
          "to_apply=add_of\n}\n";
    }
    cases.push_back({names[cases.size()].c_str(), text, 1, "input i0 " + type + "[64,300]"});
  }
  return cases;
}

std::vector<Case> Cases() {
  return {
      {"softmax", Program("f32", Softmax("f32", "4,16,300", "4,16", "0,1", "2"))},
      {"softmax_of_rows_of_odd_size", Program("f32", Softmax("f32", "37,97", "37", "0", "1"))},
      // Four take the exponentials: one kernel makes them and the maxima.
      {"softmax_and_its_gradient", SoftmaxGradient(), 3, "v3 = exp v2;output v3;", ":= exp"},
      // What the rows are less comes in a tuple, and is no reduction of theirs.
      {"exponentials_less_what_a_tuple_has",
       Program("f32",
               "  p = (f32[64], f32[64,96]) parameter(0)\n  m = f32[64] get-tuple-element(p), "
               "index=0\n  x = f32[64,96] get-tuple-element(p), index=1\n"
               "  mb = f32[64,96] broadcast(m), dimensions={0}\n  s = f32[64,96] subtract(x, mb)\n"
               "  e = f32[64,96] exponential(s)\n  t = f32[64] reduce(e, zero), dimensions={1}, "
               "to_apply=add_of\n  tb = f32[64,96] broadcast(t), dimensions={0}\n"
               "  q = f32[64,96] divide(e, tb)\n  g = f32[64,96] multiply(q, e)\n"
               "  u = f32[64] reduce(g, zero), dimensions={1}, to_apply=add_of\n"
               "  ROOT all = (f32[64,96], f32[64]) tuple(q, u)\n"),
       2},
      {"softmax_f64", Program("f64", Softmax("f64", "16,128", "16", "0", "1"))},
      {"softmax_bf16", Program("bf16", Softmax("bf16", "4,16,300", "4,16", "0,1", "2")), 1,
       "input i0 bf16[4,16,300]"},
      // JAX sums in f32 what is in bf16.
      {"softmax_that_is_summed_in_f32",
       Program("f32",
               "  x = bf16[37,97] parameter(0)\n  y = f32[37,97] convert(x)\n"
               "  m = f32[37] reduce(y, least), dimensions={1}, to_apply=maximum_of\n"
               "  n = bf16[37] convert(m)\n  nb = bf16[37,97] broadcast(n), dimensions={0}\n"
               "  s = bf16[37,97] subtract(x, nb)\n  e = bf16[37,97] exponential(s)\n"
               "  f = f32[37,97] convert(e)\n"
               "  t = f32[37] reduce(f, zero), dimensions={1}, to_apply=add_of\n"
               "  u = bf16[37] convert(t)\n  ub = bf16[37,97] broadcast(u), dimensions={0}\n"
               "  ROOT r = bf16[37,97] divide(e, ub)\n"),
       1, "input i0 bf16[37,97]", "input i1"},
      {"mean_of_what_a_mask_has",
       Program("f32",
               "  x = f32[37,97] parameter(0)\n  p = pred[37,97] parameter(1)\n"
               "  w = f32[37,97] convert(p)\n  y = f32[37,97] multiply(x, w)\n"
               "  ROOT t = f32[37] reduce(y, zero), dimensions={1}, to_apply=add_of\n"),
       1, " pred[37,97]"},
      {"softmax_of_two_rows", Program("f32", Softmax("f32", "2,1031", "2", "0", "1"))},
      {"softmax_with_sizes_of_one",
       Program("f32", Softmax("f32", "1,24,1,65", "1,24,1", "0,1,2", "3"))},
      {"layer_norm", Program("f32", LayerNorm(33, 100))},
      {"layer_norm_of_rows_of_two", Program("f32", LayerNorm(512, 2))},
      {"inner_product",
       Whole("  x = f32[5000] parameter(0)\n  y = f32[5000] parameter(1)\n"
             "  ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
       1, "input i0 f32[5000];input i1 f32[5000];", "dot("},
      {"inner_products_of_a_batch",
       Whole("  x = f64[7,40,30] parameter(0)\n  y = f64[7,40,30] parameter(1)\n"
             "  ROOT r = f64[7] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={1,2}, rhs_contracting_dims={1,2}"),
       1, "input i0 f64[7,40,30];", "dot("},
      {"inner_product_of_what_is_computed",
       Whole("  x = bf16[5000] parameter(0)\n  y = bf16[5000] parameter(1)\n"
             "  e = bf16[5000] exponential(x)\n  ROOT r = bf16[] dot(e, y), "
             "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
       1, "input i0 bf16[5000];input i1 bf16[5000];", "dot("},
      {"inner_product_of_dimensions_in_another_order",
       Whole("  x = f32[50,60] parameter(0)\n  y = f32[60,50] parameter(1)\n"
             "  ROOT r = f32[] dot(x, y), lhs_contracting_dims={0,1}, rhs_contracting_dims={1,0}"),
       0},
      {"inner_product_of_few",
       Whole("  x = f32[50] parameter(0)\n  y = f32[50] parameter(1)\n"
             "  ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
       0},
      {"sum_of_squares",
       Program("f32",
               "  x = f32[64,80] parameter(0)\n  q = f32[64,80] multiply(x, x)\n"
               "  ROOT r = f32[64] reduce(q, zero), dimensions={1}, to_apply=add_of\n")},
      {"two_dimensions_reduced",
       Program("f32",
               "  x = f32[8,6,80] parameter(0)\n"
               "  ROOT r = f32[8] reduce(x, zero), dimensions={1,2}, to_apply=add_of\n")},
      {"distances",
       Program("f32",
               "  x = f32[20,7] parameter(0)\n  y = f32[30,7] parameter(1)\n"
               "  xb = f32[20,30,7] broadcast(x), dimensions={0,2}\n"
               "  yb = f32[20,30,7] broadcast(y), dimensions={1,2}\n"
               "  d = f32[20,30,7] subtract(xb, yb)\n  q = f32[20,30,7] multiply(d, d)\n"
               "  s = f32[20,30] reduce(q, zero), dimensions={2}, to_apply=add_of\n"
               "  ROOT r = f32[20,30] sqrt(s)\n")},
      {"a_scalar_everywhere",
       Program("f32",
               "  x = f32[32,64] parameter(0)\n  t = f32[] parameter(1)\n"
               "  tb = f32[32,64] broadcast(t), dimensions={}\n  d = f32[32,64] divide(x, tb)\n"
               "  ROOT r = f32[32] reduce(d, least), dimensions={1}, to_apply=maximum_of\n")},
      // What else needs the exponentials has them from XLA.
      {"an_intermediate_value_is_needed",
       Program("f32",
               "  x = f32[32,64] parameter(0)\n  e = f32[32,64] exponential(x)\n"
               "  s = f32[32] reduce(e, zero), dimensions={1}, to_apply=add_of\n"
               "  sb = f32[32,64] broadcast(s), dimensions={0}\n"
               "  d = f32[32,64] divide(e, sb)\n  ROOT r = (f32[32,64], f32[32,64]) tuple(d, e)\n"),
       1},
      {"two_neighbourhoods",
       Program("f32",
               "  x = f32[32,64] parameter(0)\n  y = f32[48,32] parameter(1)\n"
               "  s = f32[32] reduce(x, zero), dimensions={1}, to_apply=add_of\n"
               "  sb = f32[48,32] broadcast(s), dimensions={1}\n"
               "  p = f32[48,32] multiply(y, sb)\n"
               "  ROOT r = f32[48] reduce(p, zero), dimensions={1}, to_apply=add_of\n"),
       2},
      {"columns_first",  // the caller's layout is not row-major
       Program("f32",
               "  x = f32[64,80]{0,1} parameter(0)\n  q = f32[64,80]{0,1} multiply(x, x)\n"
               "  ROOT r = f32[64]{0} reduce(q, zero), dimensions={1}, to_apply=add_of\n")},
      {"nothing_to_compute",
       Program("f32",
               "  x = f32[0,80] parameter(0)\n"
               "  ROOT r = f32[0] reduce(x, zero), dimensions={1}, to_apply=add_of\n"),
       0},
      {"too_small", Program("f32", Softmax("f32", "4,8", "4", "0", "1")), 0},
      {"columns_are_reduced",
       Program("f32",
               "  x = f32[64,80] parameter(0)\n"
               "  ROOT r = f32[80] reduce(x, zero), dimensions={0}, to_apply=add_of\n")},
      {"gradients_of_a_gain",  // of a layer norm: what leads to the sum is part of it
       Program("f32",
               "  x = f32[4,30,80] parameter(0)\n  y = f32[4,30,80] parameter(1)\n"
               "  m = f32[4,30] parameter(2)\n  mb = f32[4,30,80] broadcast(m), dimensions={0,1}\n"
               "  d = f32[4,30,80] subtract(x, mb)\n  p = f32[4,30,80] multiply(d, y)\n"
               "  s = f32[80] reduce(p, zero), dimensions={0,1}, to_apply=add_of\n"
               "  k = f32[] constant(0.5)\n  kb = f32[80] broadcast(k), dimensions={}\n"
               "  ROOT r = f32[80] multiply(s, kb)\n"),
       1, "axes=0,1"},
      {"columns_that_are_spread_again",  // a batch norm: each column's sum before what takes it
       Program("f32",
               "  x = f32[64,80] parameter(0)\n"
               "  s = f32[80] reduce(x, zero), dimensions={0}, to_apply=add_of\n"
               "  sb = f32[64,80] broadcast(s), dimensions={1}\n"
               "  ROOT r = f32[64,80] subtract(x, sb)\n"),
       1, "reduce_sum", "subtract i"},
      {"rows_beside_columns",
       Program("f32",
               "  x = f32[64,80] parameter(0)\n"
               "  s = f32[80] reduce(x, zero), dimensions={0}, to_apply=add_of\n"
               "  sb = f32[64,80] broadcast(s), dimensions={1}\n  d = f32[64,80] subtract(x, sb)\n"
               "  ROOT r = f32[64] reduce(d, least), dimensions={1}, to_apply=maximum_of\n"),
       2},
      {"all_is_reduced",  // with what is done to the only element
       Program("f32",
               "  x = f32[150,133] parameter(0)\n  y = f32[150,133] parameter(1)\n"
               "  d = f32[150,133] subtract(x, y)\n  q = f32[150,133] multiply(d, d)\n"
               "  s = f32[] reduce(q, zero), dimensions={0,1}, to_apply=add_of\n"
               "  t = f32[] parameter(2)\n  m = f32[] divide(s, t)\n  ROOT r = f32[] sqrt(m)\n"),
       1, "axes=0,1"},
      {"all_that_is_reduced_is_spread_again",
       Program("f32",
               "  x = f32[20000] parameter(0)\n  q = f32[20000] multiply(x, x)\n"
               "  s = f32[] reduce(q, zero), dimensions={0}, to_apply=add_of\n"
               "  sb = f32[20000] broadcast(s), dimensions={}\n"
               "  ROOT r = f32[20000] subtract(x, sb)\n"),
       1, "reduce_sum", "subtract i"},
      {"all_of_what_is_in_memory",  // XLA does well by itself
       Program("f32",
               "  x = f32[20000] parameter(0)\n"
               "  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add_of\n"),
       0},
      {"slices_are_reduced",
       Program("f32",
               "  x = f32[140,1,133] parameter(0)\n"
               "  a = f32[139,1,132] slice(x), slice={[1:140], [0:1], [1:133]}\n"
               "  b = f32[139,1,132] slice(x), slice={[0:139], [0:1], [1:133]}\n"
               "  c = f32[139,1,132] slice(x), slice={[1:140], [0:1], [0:132]}\n"
               "  d = f32[139,1,132] subtract(a, b)\n  p = f32[139,1,132] multiply(d, d)\n"
               "  e = f32[139,1,132] subtract(a, c)\n  q = f32[139,1,132] multiply(e, e)\n"
               "  s = f32[] reduce(p, zero), dimensions={0,1,2}, to_apply=add_of\n"
               "  t = f32[] reduce(q, zero), dimensions={0,1,2}, to_apply=add_of\n"
               "  ROOT r = f32[] add(s, t)\n"),
       1, "slice i0 sizes=139,132 starts=1,1"},
      {"a_relus_gradient_and_a_bias",
       Program("f32",
               "  x = f32[96,80] parameter(0)\n  g = f32[96,80] parameter(1)\n"
               "  zb = f32[96,80] broadcast(zero), dimensions={}\n"
               "  p = pred[96,80] compare(x, zb), direction=GT\n"
               "  d = f32[96,80] select(p, g, zb)\n"
               "  ROOT r = f32[80] reduce(d, zero), dimensions={0}, to_apply=add_of\n"),
       1, "select v"},
      {"running_sums",
       Program("f32",
               "  x = f32[6,200,1] parameter(0)\n"
               "  ROOT r = f32[6,200,1] reduce-window(x, zero), window={size=1x200x1 "
               "pad=0_0x199_0x0_0}, to_apply=add_of\n"),
       1, "running_sum i0;"},
      {"running_maxima_of_columns_from_behind",
       Program("f64",
               "  x = f64[90,33] parameter(0)\n"
               "  ROOT r = f64[90,33] reduce-window(x, least), window={size=90x1 pad=0_89x0_0}, "
               "to_apply=maximum_of\n"),
       1, "input i0 f64[1,90,33];v0 = running_max i0 reverse=1"},
      {"running_minima",
       Program("f32",
               "  x = f32[6,200] parameter(0)\n  most = f32[] constant(inf)\n"
               "  ROOT r = f32[6,200] reduce-window(x, most), window={size=1x200 pad=0_0x199_0}, "
               "to_apply=minimum_of\n"),
       1, "running_max i0;"},
      {"running_products",
       Program("f32",
               "  x = f32[6,200] parameter(0)\n  one = f32[] constant(1)\n"
               "  ROOT r = f32[6,200] reduce-window(x, one), window={size=1x200 pad=0_0x199_0}, "
               "to_apply=multiply_of\n"),
       1, "running_product i0;"},
      {"a_window_that_is_shorter",
       Program("f32",
               "  x = f32[6,200] parameter(0)\n"
               "  ROOT r = f32[6,200] reduce-window(x, zero), window={size=1x199 pad=0_0x198_0}, "
               "to_apply=add_of\n"),
       0},
      {"a_running_sum_that_begins_elsewhere",
       Program("f32",
               "  x = f32[6,200] parameter(0)\n  one = f32[] constant(1)\n"
               "  ROOT r = f32[6,200] reduce-window(x, one), window={size=1x200 pad=0_0x199_0}, "
               "to_apply=add_of\n"),
       0},
      {"a_loss_of_logits",  // log(1 + exp(-|x|)) + max(x, 0) - x y, and a cube
       Program("f32",
               "  x = f32[96,80] parameter(0)\n  y = f32[96,80] parameter(1)\n"
               "  a = f32[96,80] abs(x)\n  n = f32[96,80] negate(a)\n"
               "  e = f32[96,80] exponential(n)\n  l = f32[96,80] log-plus-one(e)\n"
               "  zb = f32[96,80] broadcast(zero), dimensions={}\n"
               "  m = f32[96,80] maximum(x, zb)\n  p = f32[96,80] multiply(x, y)\n"
               "  b = f32[96,80] add(l, m)\n  d = f32[96,80] subtract(b, p)\n"
               "  c = f32[] constant(3)\n  cb = f32[96,80] broadcast(c), dimensions={}\n"
               "  q = f32[96,80] power(d, cb)\n"
               "  ROOT r = f32[] reduce(q, zero), dimensions={0,1}, to_apply=add_of\n"),
       1, "log1p v"},
      {"a_power_that_is_no_product",
       Program("f32",
               "  x = f32[96,80] parameter(0)\n  a = f32[96,80] abs(x)\n"
               "  c = f32[] constant(2.5)\n  cb = f32[96,80] broadcast(c), dimensions={}\n"
               "  q = f32[96,80] power(a, cb)\n"
               "  ROOT r = f32[96] reduce(q, zero), dimensions={1}, to_apply=add_of\n"),
       1, "reduce_sum i0", "abs i"},
      {"a_huber_loss",
       Program("f32",
               "  x = f32[96,80] parameter(0)\n  y = f32[96,80] parameter(1)\n"
               "  d = f32[96,80] subtract(x, y)\n  a = f32[96,80] abs(d)\n"
               "  o = f32[] constant(1)\n  ob = f32[96,80] broadcast(o), dimensions={}\n"
               "  p = pred[96,80] compare(a, ob), direction=LE\n"
               "  n = pred[96,80] compare(x, x), direction=NE\n"
               "  m = pred[96,80] not(n)\n  both = pred[96,80] and(p, m)\n"
               "  q = f32[96,80] multiply(d, d)\n  s = f32[96,80] select(both, q, a)\n"
               "  ROOT r = f32[] reduce(s, zero), dimensions={0,1}, to_apply=add_of\n"),
       1, "less_equal v"},
      {"a_comparison_that_is_a_result_too",
       Program("f32",
               "  x = f32[96,80] parameter(0)\n  y = f32[96,80] parameter(1)\n"
               "  p = pred[96,80] compare(x, y), direction=LT\n"
               "  d = f32[96,80] select(p, x, y)\n"
               "  s = f32[96] reduce(d, zero), dimensions={1}, to_apply=add_of\n"
               "  ROOT r = (f32[96], pred[96,80]) tuple(s, p)\n"),
       1, "less i"},
      {"slices_with_steps_are_not_taken_in",
       Program("f32",
               "  x = f32[64,80] parameter(0)\n"
               "  a = f32[64,40] slice(x), slice={[0:64], [0:80:2]}\n"
               "  ROOT r = f32[64] reduce(a, zero), dimensions={1}, to_apply=add_of\n"),
       1, "reduce_sum i0", "slice i"},
      {"one_row_of_many",  // what is sliced has another rank without sizes of 1
       Program("f32",
               "  x = f32[64,80,30] parameter(0)\n"
               "  a = f32[1,80,30] slice(x), slice={[3:4], [0:80], [0:30]}\n"
               "  ROOT r = f32[1,80] reduce(a, zero), dimensions={2}, to_apply=add_of\n"),
       1, "reduce_sum i0", "slice i"},
      {"the_middle_is_reduced",
       Program("f32",
               "  x = f32[8,30,80] parameter(0)\n"
               "  ROOT r = f32[8,80] reduce(x, zero), dimensions={1}, to_apply=add_of\n"),
       0},
      {"another_reducer",
       Program("f32",
               "  x = f32[64,80] parameter(0)\n  most = f32[] constant(inf)\n"
               "  ROOT r = f32[64] reduce(x, most), dimensions={1}, to_apply=minimum_of\n"),
       0},
      {"another_start",
       Program("f32",
               "  x = f32[64,80] parameter(0)\n  one = f32[] constant(1)\n"
               "  ROOT r = f32[64] reduce(x, one), dimensions={1}, to_apply=add_of\n"),
       0},
  };
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

class KernelsInPrograms : public ::testing::TestWithParam<Case> {};

TEST_P(KernelsInPrograms, ComputeTheSame) {
  Pool& pool = KernelPool();
  const ProgramInfo program = MustLoad(pool, GetParam().text);
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = {PassNamed(pool, std::string(GetParam().pass))};
  request.options.verify = true;
  const auto applied = pool.Apply(request);
  ASSERT_TRUE(applied) << applied.error().message;
  ASSERT_EQ(applied->steps[0].failure, "");
  ASSERT_EQ(applied->steps[0].changed, GetParam().calls > 0);
  if (GetParam().calls == 0) return;
  const StateName before{program.id, {}};
  const StateName after{program.id, {{request.passes[0], applied->steps[0].state, {}}}};
  const auto exported = pool.Export(after, ExportFormat::kText);
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(Count(exported->bytes, "custom_call_target=\"hone_loops\""), GetParam().calls)
      << exported->bytes;
  EXPECT_THAT(exported->bytes, HasSubstr(GetParam().task));
  if (!GetParam().lacks.empty()) {
    EXPECT_THAT(exported->bytes, Not(HasSubstr(GetParam().lacks)));
  }
  const ComparisonReport report = *pool.Compare(before, after, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason << "\n" << exported->bytes;
  // What is written can be read again, and names its tasks.
  EXPECT_LE(TasksIn(exported->bytes).size(), static_cast<size_t>(GetParam().calls));
  EXPECT_FALSE(TasksIn(exported->bytes).empty());
  const ProgramInfo again = MustLoad(pool, exported->bytes);
  const ComparisonReport same = *pool.Compare(before, {again.id, {}}, {});
  EXPECT_EQ(same.verdict, Verdict::kEqual) << same.reason;
}

INSTANTIATE_TEST_SUITE_P(All, KernelsInPrograms, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Attention, KernelsInPrograms, ::testing::ValuesIn(Attentions()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Convolutions, KernelsInPrograms, ::testing::ValuesIn(Convolutions()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Elements, KernelsInPrograms, ::testing::ValuesIn(Elements()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Losses, KernelsInPrograms, ::testing::ValuesIn(Losses()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Transposes, KernelsInPrograms, ::testing::ValuesIn(Transposes()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Sorts, KernelsInPrograms, ::testing::ValuesIn(Sorts()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Matrices, KernelsInPrograms, ::testing::ValuesIn(Matrices()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Products, KernelsInPrograms, ::testing::ValuesIn(Products()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::loops
