// hone check: equal 0, different 1, can't tell 4.
#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

class Check : public HoneTest {
 protected:
  Check() {
    for (const char* name : {"small.hlo", "small_equal.hlo", "small_different.hlo",
                             "other_signature.hlo", "custom_call.hlo", "elided.hlo"}) {
      Copy(name);
    }
  }
};

TEST_F(Check, Equal) {
  const Ran text = Hone({"check", "small.hlo", "small_equal.hlo"});
  EXPECT_EQ(text.code, 0) << text.out << text.err;
  EXPECT_EQ(text.out.rfind("equal\n", 0), 0u) << text.out;
  // XLA's own passes make the same program of those; not of these.
  Write("halves.hlo",
        "HloModule halves\n\nENTRY main {\n  x = f32[8,16] parameter(0)\n"
        "  w = f32[16,4] parameter(1)\n  a = f32[8,8] slice(x), slice={[0:8], [0:8]}\n"
        "  b = f32[8,8] slice(x), slice={[0:8], [8:16]}\n"
        "  u = f32[8,4] slice(w), slice={[0:8], [0:4]}\n"
        "  v = f32[8,4] slice(w), slice={[8:16], [0:4]}\n"
        "  p = f32[8,4] dot(a, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  q = f32[8,4] dot(b, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  s = f32[8,4] add(p, q)\n  ROOT out = f32[8,4] exponential(s)\n}\n");
  const Ran json = Hone({"check", "small.hlo", "halves.hlo", "--inputs", "5", "--json"});
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.Json()["verdict"], "equal");
  EXPECT_EQ(json.Json()["inputs"], 5);
  EXPECT_LE(json.Json()["worst_error"].get<double>(), 1);
}

// What it compiles is kept for other runs, where it is asked to.
TEST_F(Check, KernelsAreKeptInTheFolder) {
  Write("doubled.hlo",
        "HloModule m\n\nENTRY main {\n  x = f32[8,8] parameter(0)\n"
        "  s = f32[8,8] sine(x)\n  ROOT y = f32[8,8] add(s, s)\n}\n");
  Write("twice.hlo",
        "HloModule m\n\nENTRY main {\n  x = f32[8,8] parameter(0)\n  k = f32[] constant(2)\n"
        "  ks = f32[8,8] broadcast(k), dimensions={}\n  s = f32[8,8] sine(x)\n"
        "  ROOT y = f32[8,8] multiply(s, ks)\n}\n");
  const std::vector<std::string> before = Listing();
  const Ran none = Hone({"check", "doubled.hlo", "twice.hlo", "--kernel-folder", "none"});
  EXPECT_EQ(none.code, 0) << none.out << none.err;
  EXPECT_EQ(Listing(), before);
  for (int run = 0; run < 2; ++run) {
    const Ran ran = Hone({"check", "doubled.hlo", "twice.hlo", "--kernel-folder", "kernels"});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  }
  EXPECT_GT(Read("kernels/recent").size(), 100u);
  // A folder that cannot be had is gone without.
  Write("file", "");
  EXPECT_EQ(Hone({"check", "doubled.hlo", "twice.hlo", "--kernel-folder", "file"}).code, 0);
}

TEST_F(Check, TheSameProgramInTwoFormats) {
  ASSERT_EQ(Hone({"run", "small.hlo", "--passes", "", "-o", "small.pb"}).code, 0);
  EXPECT_EQ(Hone({"check", "small.hlo", "small.pb"}).code, 0);
}

TEST_F(Check, Different) {
  const Ran json = Hone({"check", "small.hlo", "small_different.hlo", "--json"});
  EXPECT_EQ(json.code, 1) << json.out << json.err;
  EXPECT_EQ(json.Json()["verdict"], "different");
  EXPECT_GT(json.Json()["worst_error"].get<double>(), 1);
  EXPECT_NE(json.Json()["reason"], "");
  const Ran text = Hone({"check", "small.hlo", "small_different.hlo"});
  EXPECT_EQ(text.code, 1);
  EXPECT_EQ(text.out.rfind("different: ", 0), 0u) << text.out;
}

// Compiled as the stock compiler does, and under a plan.
TEST_F(Check, UnderAPlan) {
  Write("same.json", R"({"format": "hone tuned plan", "version": 1, "passes": ["algsimp"],
                         "choices": {}, "flags": {"xla_cpu_prefer_vector_width": "128"}})");
  const Ran same = Hone({"check", "small.hlo", "--plan", "same.json", "--json"});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_EQ(same.Json()["verdict"], "equal");
  EXPECT_EQ(same.Json()["plan"], "same.json");
  const Ran both = Hone({"check", "small.hlo", "small_equal.hlo", "--plan", "same.json"});
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("either"), std::string::npos) << both.err;
  EXPECT_EQ(Hone({"check", "small.hlo"}).code, 2);
  EXPECT_EQ(Hone({"check", "small.hlo", "--plan", "nowhere.json"}).code, 2);
}

// Rounding to bf16 hides a scale that is wrong by a percent in each element.
TEST_F(Check, APlanWithAPassThatThereIsNotIsBadInput) {
  Write("plan.json", "{\"format\":\"hone tuned plan\",\"version\":1,\"passes\":[\"nosuchpass\"]}");
  const Ran ran = Hone({"check", "small.hlo", "--plan", "plan.json"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("plan.json: there is no pass 'nosuchpass'"), std::string::npos) << ran.err;
}

TEST_F(Check, AScaleThatBf16Hides) {
  const auto scaled = [&](const std::string& name, const std::string& by) {
    Write(name,
          "HloModule m\n\nENTRY main {\n  x = bf16[64,64] parameter(0)\n"
          "  w = f32[64,64] convert(x)\n  c = f32[] constant(" +
              by +
              ")\n"
              "  b = f32[64,64] broadcast(c), dimensions={}\n"
              "  y = f32[64,64] multiply(w, b)\n  ROOT r = bf16[64,64] convert(y)\n}\n");
  };
  scaled("by.hlo", "1.5");
  scaled("nearly.hlo", "1.501");
  scaled("wrong.hlo", "1.515");
  EXPECT_EQ(Hone({"check", "by.hlo", "nearly.hlo"}).code, 0);
  const Ran wrong = Hone({"check", "by.hlo", "wrong.hlo"});
  EXPECT_EQ(wrong.code, 1) << wrong.out;
  EXPECT_NE(wrong.out.find("times what it should be"), std::string::npos) << wrong.out;
}

// Numbers of two and four bits as parameters, inside and as results.
TEST_F(Check, TypesOfLessThanAByte) {
  const std::string program =
      "HloModule m\n\nENTRY main {\n  a = s4[8,8] parameter(0)\n  b = u4[8,8] parameter(1)\n"
      "  c = s2[8,8] parameter(2)\n  f = f4e2m1fn[8,8] parameter(3)\n"
      "  a8 = s8[8,8] convert(a)\n  b8 = s8[8,8] convert(b)\n  s = s8[8,8] add(a8, b8)\n"
      "  r = s4[8,8] convert(s)\n  n = s2[8,8] negate(c)\n  w = f32[8,8] convert(f)\n"
      "  d = f32[8,8] multiply(w, w)\n  e = f4e2m1fn[8,8] convert(d)\n"
      "  ROOT t = (s4[8,8], s2[8,8], f4e2m1fn[8,8]) tuple(r, n, e)\n}\n";
  const auto with = [&](const std::string& from, const std::string& to) {
    return std::string(program).replace(program.find(from), from.size(), to);
  };
  Write("narrow.hlo", program);
  Write("sum.hlo", with("add(a8, b8)", "add(b8, a8)"));
  Write("difference.hlo", with("add(a8, b8)", "subtract(a8, b8)"));
  Write("not_negated.hlo", with("negate(c)", "copy(c)"));
  Write("doubled.hlo", with("multiply(w, w)", "add(w, w)"));
  const Ran equal = Hone({"check", "narrow.hlo", "sum.hlo", "--json"});
  EXPECT_EQ(equal.code, 0) << equal.out << equal.err;
  EXPECT_EQ(equal.Json()["inputs"], 3);
  for (const char* other : {"difference.hlo", "not_negated.hlo", "doubled.hlo"}) {
    const Ran different = Hone({"check", "narrow.hlo", other});
    EXPECT_EQ(different.code, 1) << other << different.out << different.err;
  }
}

// Where results are floats, programs run with rounding noise as well, which take them packed, too.
TEST_F(Check, FloatsOfParametersOfLessThanAByte) {
  const auto program = [](const std::string& opcode) {
    return "HloModule m\n\nENTRY main {\n  a = s4[9,6] parameter(0)\n  x = f32[6,7] parameter(1)\n"
           "  w = f32[9,6] convert(a)\n  s = f32[9,6] sine(w)\n  v = f32[9,6] " +
           opcode +
           "(w, s)\n  ROOT r = f32[9,7] dot(v, x), lhs_contracting_dims={1}, "
           "rhs_contracting_dims={0}\n}\n";
  };
  Write("sum.hlo", program("add"));
  Write("product.hlo", program("multiply"));
  const Ran different = Hone({"check", "sum.hlo", "product.hlo"});
  EXPECT_EQ(different.code, 1) << different.out << different.err;
  std::string turned = program("add");
  turned.replace(turned.find("(w, s)"), 6, "(s, w)");
  Write("turned.hlo", turned);
  const Ran equal = Hone({"check", "sum.hlo", "turned.hlo"});
  EXPECT_EQ(equal.code, 0) << equal.out << equal.err;
}

TEST_F(Check, OtherParameters) {
  EXPECT_EQ(Hone({"check", "small.hlo", "other_signature.hlo"}).code, 1);
}

TEST_F(Check, CannotTellNamesWhatCannotBeRun) {
  const Ran ran = Hone({"check", "custom_call.hlo", "other_signature.hlo"});
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_EQ(ran.out.rfind("can't tell: ", 0), 0u) << ran.out;
  EXPECT_NE(ran.out.find("hone_no_such_kernel"), std::string::npos) << ran.out;
}

TEST_F(Check, ElidedConstantsCannotBeRun) {
  const Ran ran = Hone({"check", "elided.hlo", "elided.hlo"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_NE(ran.out.find("elided constants"), std::string::npos) << ran.out;
}

TEST_F(Check, WhoIsEndedBeforeThereIsAnAnswerSaysSo) {
  // Folded, it never ends.
  Write("loop.hlo",
        "HloModule l\n\nbody {\n  n = s32[] parameter(0)\n  o = s32[] constant(1)\n"
        "  ROOT m = s32[] add(n, o)\n}\n\ncondition {\n  n = s32[] parameter(0)\n"
        "  ROOT t = pred[] constant(true)\n}\n\nENTRY main {\n  x = s32[] constant(0)\n"
        "  ROOT w = s32[] while(x), condition=condition, body=body\n}\n");
  const std::string run =
      std::string(HONE_BINARY) + " run loop.hlo --passes constant_folding:aggressive --json";
  const Ran ran =
      RunProcess({"/bin/sh", "-c", run + " & sleep 1; kill -TERM $!; wait $!"}, folder());
  EXPECT_EQ(ran.code, 143) << ran.err;
  EXPECT_EQ(ran.Json()["error"]["code"], "interrupted") << ran.out;
}

TEST_F(Check, AnInterruptStillAnswers) {
  Write("cosine.hlo",
        "HloModule c\n\nENTRY main {\n  x = f32[1000000] parameter(0)\n"
        "  ROOT y = f32[1000000] cosine(x)\n}\n");
  Write("shifted.hlo",
        "HloModule s\n\nENTRY main {\n  x = f32[1000000] parameter(0)\n"
        "  c = f32[] constant(0)\n  z = f32[1000000] broadcast(c), dimensions={}\n"
        "  d = f32[1000000] maximum(x, z)\n  e = f32[1000000] minimum(x, z)\n"
        "  s = f32[1000000] add(d, e)\n  ROOT y = f32[1000000] cosine(s)\n}\n");
  const Ran ran =
      RunProcess({HONE_BINARY, "check", "cosine.hlo", "shifted.hlo", "--inputs", "1000", "--json"},
                 folder(), /*interrupt_at=*/"compiling and running both");
  EXPECT_EQ(ran.code, 130) << ran.err;
  const nlohmann::json json = ran.Json();
  EXPECT_LT(json["inputs"], 1000) << ran.out;
  EXPECT_NE((json["method"].get<std::string>() + json["reason"].get<std::string>())
                .find("it was interrupted"),
            std::string::npos)
      << ran.out;
}

}  // namespace
}  // namespace hone
