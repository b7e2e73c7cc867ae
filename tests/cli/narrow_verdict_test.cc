// What hone check says of programs that compute in bf16: right ones round at other places, and
// wrong ones are found for all that.
#include <gtest/gtest.h>

#include <string>

#include "hone_process.h"

namespace hone {
namespace {

// From JAX: the gradient of a perceptron of three layers, its f32 weights cast to bf16 within.
class NarrowVerdicts : public HoneTest {
 protected:
  void SetUp() override { Copy("mixed_gradient.hlo"); }

  // Of the program against itself with `from` replaced by `to`.
  Ran CheckChanged(const std::string& from, const std::string& to) {
    std::string text = Read("mixed_gradient.hlo");
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    Write("changed.hlo", text);
    return Hone({"check", "mixed_gradient.hlo", "changed.hlo"});
  }
};

TEST_F(NarrowVerdicts, KernelsThatDoNotRoundBetweenOperationsAreRight) {
  const Ran made = Hone({"run", "mixed_gradient.hlo", "-o", "kernels.hlo", "--passes",
                         "call-inliner:every_call_site,implement:products,implement:loops"});
  ASSERT_EQ(made.code, 0) << made.err;
  ASSERT_NE(Read("kernels.hlo"), Read("mixed_gradient.hlo"));
  const Ran ran = Hone({"check", "mixed_gradient.hlo", "kernels.hlo"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

// In bf16 0.998 is 1, and nothing is left of what is subtracted from 1.
TEST_F(NarrowVerdicts, ARoundingToOneMayBeLeftOut) {
  const std::string begin =
      "HloModule m\n\nENTRY main {\n  x = f32[64,256] parameter(0)\n"
      "  y = f32[64,256] parameter(1)\n  a = f32[64,256] logistic(x)\n";
  const std::string end =
      "  one = f32[] constant(1)\n  ones = f32[64,512] broadcast(one), dimensions={}\n"
      "  d = f32[64,512] subtract(ones, w)\n  e = f32[] constant(0.001)\n"
      "  es = f32[64,512] broadcast(e), dimensions={}\n  f = f32[64,512] maximum(d, es)\n"
      "  ROOT r = f32[64,512] divide(w, f)\n}\n";
  Write("rounded.hlo", begin +
                           "  p = bf16[64,256] convert(a)\n  q = bf16[64,256] convert(y)\n"
                           "  c = bf16[64,512] concatenate(p, q), dimensions={1}\n"
                           "  w = f32[64,512] convert(c)\n" +
                           end);
  Write("not.hlo", begin + "  w = f32[64,512] concatenate(a, y), dimensions={1}\n" + end);
  const Ran ran = Hone({"check", "rounded.hlo", "not.hlo"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  Write("wrong.hlo", begin +
                         "  k = f32[] constant(1.01)\n"
                         "  ks = f32[64,256] broadcast(k), dimensions={}\n"
                         "  b = f32[64,256] multiply(y, ks)\n"
                         "  w = f32[64,512] concatenate(a, b), dimensions={1}\n" +
                         end);
  EXPECT_EQ(Hone({"check", "rounded.hlo", "wrong.hlo"}).code, 1);
}

// Numbers below 6e-5 have fewer bits in f16.
TEST_F(NarrowVerdicts, SmallNumbersOfF16AreRoundedMore) {
  const auto program = [](const std::string& product) {
    return "HloModule m\n\nENTRY main {\n  x = f32[64,256] parameter(0)\n"
           "  y = f32[256,64] parameter(1)\n  s = f32[] constant(0.004)\n"
           "  xs = f32[64,256] broadcast(s), dimensions={}\n"
           "  ys = f32[256,64] broadcast(s), dimensions={}\n"
           "  xm = f32[64,256] multiply(x, xs)\n  ym = f32[256,64] multiply(y, ys)\n"
           "  a = f16[64,256] convert(xm)\n  b = f16[256,64] convert(ym)\n" +
           product + "}\n";
  };
  const std::string dot = " dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  Write("rounded.hlo", program("  d = f16[64,64]" + dot + "  ROOT r = f32[64,64] convert(d)\n"));
  Write("not.hlo", program("  ROOT d = f32[64,64]" + dot));
  const Ran ran = Hone({"check", "rounded.hlo", "not.hlo"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  Write("wrong.hlo", program("  d = f32[64,64]" + dot +
                             "  k = f32[] constant(1.1)\n"
                             "  ks = f32[64,64] broadcast(k), dimensions={}\n"
                             "  ROOT r = f32[64,64] multiply(d, ks)\n"));
  EXPECT_EQ(Hone({"check", "rounded.hlo", "wrong.hlo"}).code, 1);
}

TEST_F(NarrowVerdicts, AGradientOffByOnePercentIsFound) {
  const Ran ran = CheckChanged("constant(0.000122070312)", "constant(0.000123291)");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("times what it should be"), std::string::npos) << ran.out;
}

TEST_F(NarrowVerdicts, ABiasThatIsLeftOutIsFound) {
  const Ran ran = CheckChanged("add.21 = bf16[128,512]{1,0} add(dot_general.8, add.20)",
                               "add.21 = bf16[128,512]{1,0} copy(dot_general.8)");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
}

TEST_F(NarrowVerdicts, AScaleThatIsLeftOutIsFound) {
  const Ran ran = CheckChanged("multiply(add.21, mul.47)", "multiply(add.21, add.23)");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
}

TEST_F(NarrowVerdicts, ABlockOfWeightsThatIsTransposedIsFound) {
  const std::string dot = "dot_general.9 = bf16[128,512]{1,0} dot(mul.48, ";
  const Ran ran = CheckChanged(
      dot + "convert_element_type.18)",
      "block = bf16[4,4]{1,0} slice(convert_element_type.18), slice={[0:4], [0:4]}\n"
      "  turned = bf16[4,4]{1,0} transpose(block), dimensions={1,0}\n  nought = s32[] constant(0)\n"
      "  weights = bf16[512,512]{1,0} dynamic-update-slice(convert_element_type.18, turned, "
      "nought, "
      "nought)\n  " +
          dot + "weights)");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
}

TEST_F(NarrowVerdicts, AMaskThatIsMissingIsFound) {
  const std::string begin =
      "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT s = f32[] add(a, b)\n}\n\nENTRY main {\n  q = bf16[64,32] parameter(0)\n"
      "  k = bf16[64,32] parameter(1)\n"
      "  s = bf16[64,64] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n";
  const std::string mask =
      "  i = s32[64,64] iota(), iota_dimension=0\n  j = s32[64,64] iota(), iota_dimension=1\n"
      "  m = pred[64,64] compare(i, j), direction=GE\n  l = bf16[] constant(-inf)\n"
      "  ls = bf16[64,64] broadcast(l), dimensions={}\n  t = bf16[64,64] select(m, s, ls)\n";
  const auto end = [](const std::string& scores) {
    return "  w = f32[64,64] convert(" + scores +
           ")\n  e = f32[64,64] exponential(w)\n  z = f32[] constant(0)\n"
           "  n = f32[64] reduce(e, z), dimensions={1}, to_apply=add\n"
           "  ns = f32[64,64] broadcast(n), dimensions={0}\n  p = f32[64,64] divide(e, ns)\n"
           "  ROOT r = bf16[64,64] convert(p)\n}\n";
  };
  Write("masked.hlo", begin + mask + end("t"));
  Write("not.hlo", begin + end("s"));
  Write("off.hlo", begin + std::string(mask).replace(mask.find("GE"), 2, "GT") + end("t"));
  EXPECT_EQ(Hone({"check", "masked.hlo", "masked.hlo"}).code, 0);
  EXPECT_EQ(Hone({"check", "masked.hlo", "not.hlo"}).code, 1);
  EXPECT_EQ(Hone({"check", "masked.hlo", "off.hlo"}).code, 1) << "one column less in each row";
}

}  // namespace
}  // namespace hone
