// Remainders, quotients, powers, and complex numbers with real ones.
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

// Quotients and remainders of numbers of all lengths, the least, 0 and -1 among them.
std::string LongQuotients(const std::string& type) {
  const std::string all = type + "[300]";
  return Entry(all + ";" + all,
               "i = " + all + " iota(), iota_dimension=0\n  k0 = " + type +
                   "[] constant(6364136223846793005)\n  k = " + all +
                   " broadcast(k0), dimensions={}\n  f0 = " + type +
                   "[] constant(63)\n  f = " + all + " broadcast(f0), dimensions={}\n  n = " + all +
                   " and(i, f)\n  o0 = " + type + "[] constant(1)\n  o = " + all +
                   " broadcast(o0), dimensions={}\n  h = " + all + " multiply(i, k)\n  a = " + all +
                   " multiply(p0, k)\n  x = " + all + " add(h, a)\n  m = " + all +
                   " multiply(h, h)\n  b = " + all + " shift-right-logical(m, n)\n  y = " + all +
                   " xor(b, p1)\n  l = " + all + " shift-left(o, f)\n  s = " + all +
                   " subtract(n, o)\n  q = " + all + " divide(x, y)\n  r = " + all +
                   " remainder(x, y)\n  t = " + all + " divide(l, s)\n  u = " + all +
                   " remainder(l, s)\n  ROOT w = (" + all + ", " + all + ", " + all + ", " + all +
                   ") tuple(q, r, t, u)");
}

}  // namespace

std::vector<Case> FormulaCases() {
  return {
      {"complex_by_parts", "magnitudes that are squared",
       Entry("c64[300]", "a = f32[300] abs(p0)\n  ROOT s = f32[300] multiply(a, a)")},
      {"complex_by_parts", "by a magnitude, times a real number",
       Entry(
           "c64[300];f32[300]",
           "a = f32[300] abs(p0)\n  c = c64[300] convert(a)\n  z0 = c64[] constant((0, 0))\n  z = "
           "c64[300] broadcast(z0), dimensions={}\n  o0 = c64[] constant((1, 0))\n  o = c64[300] "
           "broadcast(o0), dimensions={}\n  e = pred[300] compare(c, z), direction=EQ\n  n = "
           "c64[300] select(e, o, c)\n  q = c64[300] divide(p0, n)\n  i0 = f32[] constant(0)\n  "
           "i = f32[300] broadcast(i0), dimensions={}\n  g = c64[300] complex(p1, i)\n  r = "
           "c64[300] multiply(g, q)\n  a0 = f32[300] real(r)\n  a1 = f32[300] imag(r)\n  ROOT t = "
           "(f32[300], f32[300]) tuple(a0, a1)")},
      {"complex_by_parts", "doubles, by a number",
       Entry("c128[30]",
             "n0 = c128[] constant((3, 0))\n  n = c128[30] broadcast(n0), dimensions={}\n  r = "
             "c128[30] divide(p0, n)\n  a0 = f64[30] real(r)\n  a1 = f64[30] imag(r)\n  ROOT t = "
             "(f64[30], f64[30]) tuple(a0, a1)")},
      {"complex_by_parts", "e to the power of i times an angle, as JAX writes it",
       Entry("c64[300];f32[300]",
             "y = f32[300] imag(p0)\n  x = f32[300] real(p0)\n  a = f32[300] atan2(y, x)\n  c = "
             "c64[300] convert(a)\n  i0 = c64[] constant((0, 1))\n  i = c64[300] broadcast(i0), "
             "dimensions={}\n  m = c64[300] multiply(c, i)\n  r = f32[300] real(m)\n  e = f32[300] "
             "exponential(r)\n  n = f32[300] imag(m)\n  k = f32[300] cosine(n)\n  s = f32[300] "
             "sine(n)\n  ek = f32[300] multiply(e, k)\n  es = f32[300] multiply(e, s)\n  ROOT z = "
             "(f32[300], f32[300]) tuple(ek, es)")},
      {"complex_by_parts", "cosines and sines of angles",
       Entry(
           "f32[300];f32[300]",
           "a = f32[300] atan2(p0, p1)\n  c = f32[300] cosine(a)\n  s = f32[300] sine(a)\n  two = "
           "f32[] constant(2)\n  t = f32[300] broadcast(two), dimensions={}\n  d = f32[300] "
           "multiply(t, s)\n  ROOT r = f32[300] add(c, d)"),
       true, true},
      {"complex_by_parts", "of two complex numbers",
       Entry("c64[300];c64[300]",
             "m = c64[300] multiply(p0, p1)\n  ROOT q = c64[300] divide(m, p1)"),
       false},
      {"complex_by_parts", "by an imaginary number",
       Entry("c64[300]",
             "n0 = c64[] constant((0, 3))\n  n = c64[300] broadcast(n0), dimensions={}\n  ROOT r = "
             "c64[300] multiply(p0, n)"),
       false},
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
      {"remainder_formulas", "of 64 bits", LongQuotients("u64"), true, true},
      {"remainder_formulas", "of 64 bits, of both signs", LongQuotients("s64"), true, true},
      {"remainder_formulas", "by a known number",
       Entry("s32[300]",
             "c = s32[] constant(7)\n  b = s32[300] broadcast(c), dimensions={}\n"
             "  ROOT r = s32[300] remainder(p0, b)"),
       false},
      {"remainder_formulas", "by a known number, as JAX writes it",
       Entry("u32[300]",
             "n = s32[] constant(97)\n  c = u32[] convert(n)\n  z = u32[] constant(0)\n"
             "  e = pred[] compare(c, z), direction=EQ\n  o = u32[] constant(1)\n"
             "  s = u32[] select(e, o, c)\n  d = u32[300] broadcast(s), dimensions={}\n"
             "  ROOT r = u32[300] remainder(p0, d)"),
       false},
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
      {"power_products", "counters",
       Entry("f32[300]",
             "i = s32[12] iota(), iota_dimension=0\n  f = f32[12] convert(i)\n  b = f32[300,12] "
             "broadcast(f), dimensions={1}\n  x = f32[300,12] broadcast(p0), dimensions={0}\n  "
             "ROOT r = f32[300,12] power(x, b)"),
       true, true},
      {"power_products", "one less than counters, none where they are 0",
       Entry(
           "f64[300]",
           "f = f64[7] iota(), iota_dimension=0\n  z = f64[] constant(0)\n  zs = f64[7] "
           "broadcast(z), dimensions={}\n  o = f64[] constant(1)\n  os = f64[7] broadcast(o), "
           "dimensions={}\n  e = pred[7] compare(f, zs), direction=EQ\n  l = f64[7] subtract(f, "
           "os)\n  n = f64[7] select(e, os, l)\n  b = f64[300,7] broadcast(n), "
           "dimensions={1}\n  x = f64[300,7] broadcast(p0), dimensions={0}\n  ROOT r = f64[300,7] "
           "power(x, b)"),
       true, true},
      {"power_products", "whole numbers on both sides of 0",
       Entry("f32[300];s8[300]",
             "w0 = s8[] constant(-9)\n  w = s8[300] broadcast(w0), dimensions={}\n  m0 = s8[] "
             "constant(40)\n  "
             "m = s8[300] broadcast(m0), dimensions={}\n  c = s8[300] clamp(w, p1, m)\n  b = "
             "f32[300] convert(c)\n  ROOT r = f32[300] power(p0, b)"),
       true, true},
      {"power_products", "bytes, which are too many",
       Entry("f32[300];s8[300]", "b = f32[300] convert(p1)\n  ROOT r = f32[300] power(p0, b)"),
       false},
      {"power_products", "counters of halves",
       Entry("f32[300]",
             "f = f32[300] iota(), iota_dimension=0\n  h = f32[] constant(0.125)\n  hs = f32[300] "
             "broadcast(h), dimensions={}\n  b = f32[300] multiply(f, hs)\n  ROOT r = f32[300] "
             "power(p0, b)"),
       false},
      {"power_products", "too many products",
       Entry("bf16[40]",
             "c = bf16[] constant(9)\n  b = bf16[40] broadcast(c), dimensions={}\n  ROOT r = "
             "bf16[40] power(p0, b)"),
       false},
  };
}

}  // namespace hone::compiler
