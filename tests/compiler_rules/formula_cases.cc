// Remainders, quotients and powers.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {

namespace {

// c = f32[300].
std::string Number(const std::string& c) {
  return "c0 = f32[] constant(" + c + ")\n  c = f32[300] broadcast(c0), dimensions={}\n  ";
}

// e = f32[300]: the derivative of log(exp(x) + exp(c)) by x, as JAX writes it; d is x - c, or x.
std::string SoftplusGradient(const std::string& x, const std::string& c, bool subtracts = true) {
  const std::string all = "f32[300]";
  return "z0 = f32[] constant(0)\n  z = " + all + " broadcast(z0), dimensions={}\n" +
         "  i0 = f32[] constant(inf)\n  i = " + all + " broadcast(i0), dimensions={}\n" +
         "  xi = pred[300] compare(" + x + ", i), direction=EQ\n  xf = " + all + " select(xi, z, " +
         x + ")\n  d = " + all + (subtracts ? " subtract(" + c + ", " + x : " add(z, " + x) +
         ")\n  n = pred[300] compare(d, d), direction=NE\n  m = " + all + " maximum(" + x + ", " +
         c + ")\n  a = " + all + " abs(" + (subtracts ? "d" : x) + ")\n  g = " + all +
         " negate(a)\n  h = " + all + " exponential(g)\n  l = " + all +
         " log-plus-one(h)\n  s = " + all + " add(m, l)\n  sx = " + all + " add(" + x + ", " + c +
         ")\n  o = " + all +
         " select(n, sx, s)\n  oi = pred[300] compare(o, i), direction=EQ\n  of = " + all +
         " select(oi, z, o)\n  b = " + all + " subtract(xf, of)\n  e = " + all +
         " exponential(b)\n  ";
}

}  // namespace

std::vector<Case> FormulaCases() {
  return {
      {"logistic_gradients", "of softplus",
       Entry("f32[300];f32[300]",
             Number("0") + SoftplusGradient("p0", "c") + "ROOT r = f32[300] multiply(e, p1)"),
       true, true},
      {"logistic_gradients", "of softplus, its difference simplified",
       Entry("f32[300]",
             Number("0") + SoftplusGradient("p0", "c", false) + "ROOT r = f32[300] add(e, s)"),
       true, true},
      {"logistic_gradients", "of two arrays, which may be infinite",
       Entry("f32[300];f32[300]", SoftplusGradient("p0", "p1") + "ROOT r = f32[300] negate(e)"),
       true, true},
      {"logistic_gradients", "with another number, the other way round",
       Entry("f32[300]", Number("1.5") + "y = f32[300] negate(p0)\n  " +
                             SoftplusGradient("y", "c") + "ROOT r = f32[300] negate(e)")},
      {"logistic_gradients", "of something else",
       Entry("f32[300];f32[300]",
             "d = f32[300] subtract(p0, p1)\n  ROOT r = f32[300] exponential(d)"),
       false},
      {"remainder_formulas", "integers, by what may be 0",
       Entry("s32[300];s32[300]", "ROOT r = s32[300] remainder(p0, p1)"), true, true},
      {"remainder_formulas", "quotients of integers, the least by -1",
       Entry("s32[300];s32[300]",
             "l = s32[] constant(-2147483648)\n  b = s32[300] broadcast(l), dimensions={}\n"
             "  i = s32[300] iota(), iota_dimension=0\n  n = s32[] constant(151)\n"
             "  c = s32[300] broadcast(n), dimensions={}\n  g = s32[300] subtract(i, c)\n"
             "  q = s32[300] divide(b, g)\n  r = s32[300] remainder(b, g)\n"
             "  d = s32[300] divide(p0, p1)\n  s = s32[300] add(q, r)\n"
             "  ROOT t = s32[300] add(s, d)"),
       true, true},
      {"remainder_formulas", "unsigned ones",
       Entry("u32[300];u32[300]",
             "q = u32[300] divide(p0, p1)\n  r = u32[300] remainder(p0, p1)\n"
             "  ROOT s = u32[300] add(q, r)"),
       true, true},
      {"remainder_formulas", "bytes",
       Entry("s8[300];s8[300]",
             "q = s8[300] divide(p0, p1)\n  r = s8[300] remainder(p0, p1)\n"
             "  ROOT s = s8[300] add(q, r)"),
       true, true},
      {"remainder_formulas", "by a known number",
       Entry("s32[300]",
             "c = s32[] constant(7)\n  b = s32[300] broadcast(c), dimensions={}\n"
             "  ROOT r = s32[300] remainder(p0, b)"),
       false},
      {"remainder_formulas", "of 64 bits",
       Entry("s64[300];s64[300]", "ROOT r = s64[300] remainder(p0, p1)"), false},
      {"remainder_formulas", "doubles, by what may be 0",
       Entry("f64[300];f64[300]", "ROOT r = f64[300] remainder(p0, p1)"), true, true},
      {"remainder_formulas", "narrow floats",
       Entry("bf16[300];bf16[300]", "ROOT r = bf16[300] remainder(p0, p1)"), true, true},
      {"power_products", "a half more than one",
       Entry("f32[40]",
             "c = f32[] constant(1.5)\n  b = f32[40] broadcast(c), dimensions={}\n  ROOT r = "
             "f32[40] power(p0, b)"),
       true, true},
      {"power_products", "a third",
       Entry("f32[40]",
             "c = f32[] constant(0.333)\n  b = f32[40] broadcast(c), dimensions={}\n  ROOT r = "
             "f32[40] power(p0, b)"),
       false},
      {"power_products", "too many products",
       Entry("bf16[40]",
             "c = bf16[] constant(9)\n  b = bf16[40] broadcast(c), dimensions={}\n  ROOT r = "
             "bf16[40] power(p0, b)"),
       false},
  };
}

}  // namespace hone::compiler
