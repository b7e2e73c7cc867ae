#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

class Stats : public HoneTest {
 protected:
  Stats() { Copy("small.hlo"); }
};

// Counted by hand from tests/cli/data/small.hlo.
TEST_F(Stats, SmallProgram) {
  const auto json = Hone({"stats", "small.hlo", "--json"}).Json();
  EXPECT_EQ(json["name"], "small");
  EXPECT_EQ(json["instructions"], 8);
  EXPECT_EQ(json["computations"], 1);
  EXPECT_EQ(json["ops"]["parameter"], 2);
  EXPECT_EQ(json["ops"]["dot"], 1);
  EXPECT_EQ(json["ops"].size(), 7u);
  EXPECT_EQ(json["flops"], 2 * 8 * 4 * 16 + 8 * 16 + 8 * 4);  // dot, add, negate
  EXPECT_EQ(json["transcendentals"], 8 * 4);
  EXPECT_EQ(json["parameters"], 2);
  EXPECT_EQ(json["parameter_bytes"], 4 * (8 * 16 + 16 * 4));
  EXPECT_EQ(json["outputs"], 1);
  EXPECT_EQ(json["output_bytes"], 4 * 8 * 4);
  EXPECT_GE(json["peak_memory"].get<int64_t>(), 4 * (8 * 16 + 16 * 4));
  EXPECT_EQ(json["largest"][0]["bytes"], 4 * 8 * 16);
  EXPECT_EQ(json["largest"][0]["shape"], "f32[8,16]");
  EXPECT_EQ(json["largest"].size(), 8u);
  EXPECT_EQ(json["elided_constants"], false);
}

// What XLA's analysis knows nothing of is not free: it would be the best way to do anything.
TEST_F(Stats, CustomCallsCostSomething) {
  Write("call.hlo",
        "HloModule m\nENTRY e {\n  x = f32[100] parameter(0)\n"
        "  ROOT y = f32[20] custom-call(x), custom_call_target=\"unknown\"\n}\n");
  const auto json = Hone({"stats", "call.hlo", "--json"}).Json();
  EXPECT_EQ(json["flops"], 120);
  EXPECT_EQ(json["bytes"], 480);
}

TEST_F(Stats, ACacheOfNothingMayBeAskedFor) {
  EXPECT_EQ(Hone({"stats", "small.hlo", "--kernel-cache", "0"}).code, 0);
  EXPECT_EQ(Hone({"stats", "small.hlo", "--kernel-cache", "none"}).code, 2);
}

TEST_F(Stats, Text) {
  const Ran ran = Hone({"stats", "small.hlo"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("instructions     8 in 1 computations"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err, "");
}

// Whoever lets workers do all is told so; the answer is the same.
TEST_F(Stats, WithoutTheSandbox) {
  const Ran ran = Hone({"stats", "small.hlo", "--no-sandbox"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, Hone({"stats", "small.hlo"}).out);
  EXPECT_NE(ran.err.find("workers are not locked up"), std::string::npos) << ran.err;
}

TEST_F(Stats, Folder) {
  Copy("small_equal.hlo");
  Write("README.txt", "not a program");
  const Ran ran = Hone({"stats", ".", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["results"].size(), 2u);
}

TEST_F(Stats, ElidedConstantsAreSaid) {
  Copy("elided.hlo");
  const Ran ran = Hone({"stats", "elided.hlo", "--json"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.Json()["elided_constants"], true);
  EXPECT_NE(ran.err.find("warning"), std::string::npos);
}

// XLA's alias analysis aborts where control flow shares computations, which its verifier allows.
TEST_F(Stats, ComputationsThatControlFlowShares) {
  Write("shared.hlo", R"(HloModule shared

same {
  ROOT x = f32[64] parameter(0)
}

less {
  x = f32[64] parameter(0)
  ROOT no = pred[] constant(false)
}

ENTRY main {
  which = s32[] parameter(0)
  given = f32[64] parameter(1)
  chosen = f32[64] conditional(which, given, given), branch_computations={same, same}
  once = f32[64] while(chosen), condition=less, body=same
  ROOT twice = f32[64] while(once), condition=less, body=same
})");
  const Ran ran = Hone({"stats", "shared.hlo", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_GE(ran.Json()["peak_memory"].get<int64_t>(), 64 * 4);
}

// The same analysis reads freed memory where a loop's body calls one computation twice.
TEST_F(Stats, ComputationsThatALoopCallsTwice) {
  Write("twice.hlo", R"(HloModule called_twice

half {
  p = f32[4] parameter(0)
  ROOT s = f32[2] slice(p), slice={[0:2]}
}

step {
  state = (s32[], f32[4], f32[4], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  g0 = f32[4] get-tuple-element(state), index=1
  g1 = f32[4] get-tuple-element(state), index=2
  g2 = f32[4] get-tuple-element(state), index=3
  g3 = f32[4] get-tuple-element(state), index=4
  c0 = f32[2] call(g0), to_apply=half
  c1 = f32[2] call(g1), to_apply=half
  ROOT after = (s32[], f32[4], f32[4], f32[4], f32[4]) tuple(i, g0, g1, g2, g3)
}

again {
  state = (s32[], f32[4], f32[4], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(8)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY main {
  state = (s32[], f32[4], f32[4], f32[4], f32[4]) parameter(0)
  ROOT loop = (s32[], f32[4], f32[4], f32[4], f32[4]) while(state), condition=again, body=step
})");
  const Ran ran = Hone({"stats", "twice.hlo", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_GT(ran.Json()["peak_memory"].get<int64_t>(), 0);
}

}  // namespace
}  // namespace hone
