#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

class RunTest : public HoneTest {
 protected:
  RunTest() { Copy("small.hlo"); }
};

TEST_F(RunTest, EmptyListIsAFixedPoint) {
  ASSERT_EQ(Hone({"run", "small.hlo", "--passes", "", "-o", "once.hlo"}).code, 0);
  ASSERT_EQ(Hone({"run", "once.hlo", "--passes", "", "-o", "twice.hlo"}).code, 0);
  EXPECT_EQ(Read("once.hlo"), Read("twice.hlo"));
  // Binaries carry ids: from the second on they are the same.
  ASSERT_EQ(Hone({"run", "once.hlo", "--passes", "", "-o", "once.pb"}).code, 0);
  ASSERT_EQ(Hone({"run", "once.pb", "--passes", "", "-o", "back.hlo"}).code, 0);
  EXPECT_EQ(Read("once.hlo"), Read("back.hlo"));
}

// As JAX's dumps have them, where Shardy is what partitions.
TEST_F(RunTest, ShardysMarkersAreNothingOnOneDevice) {
  const std::string header = "HloModule jit_f, entry_computation_layout={(f32[8]{0})->f32[8]{0}}";
  const std::string body =
      "\n\nENTRY main {\n  x = f32[8] parameter(0)\n  y = f32[8] tanh(x)\n"
      "  b = f32[8] custom-call(y), custom_call_target=\"xla.sdy.PropagationBarrier\"\n"
      "  z = f32[8] negate(b)\n  ROOT r = f32[8] custom-call(z), "
      "custom_call_target=\"xla.sdy.FuncResultSharding\", custom_call_has_side_effect=true\n}\n";
  Write("one.hlo", header + body);
  ASSERT_EQ(Hone({"run", "one.hlo", "--passes", "", "-o", "out.hlo"}).code, 0);
  EXPECT_EQ(Read("out.hlo").find("custom-call"), std::string::npos) << Read("out.hlo");
  EXPECT_NE(Read("out.hlo").find("ROOT %z"), std::string::npos) << Read("out.hlo");
  Write("two.hlo", header + ", num_partitions=2" + body);
  ASSERT_EQ(Hone({"run", "two.hlo", "--passes", "", "-o", "out.hlo"}).code, 0);
  EXPECT_NE(Read("out.hlo").find("FuncResultSharding"), std::string::npos);
}

TEST_F(RunTest, RunsInOrderAndReportsEach) {
  const Ran ran = Hone({"run", "small.hlo", "--passes", "dce, algsimp,dce", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = ran.Json();
  ASSERT_EQ(json["passes"].size(), 3u);
  EXPECT_EQ(json["initial"], 8);
  EXPECT_EQ(json["passes"][0]["before"], 8);
  EXPECT_EQ(json["passes"][0]["after"], 7);  // `unused` goes
  EXPECT_EQ(json["passes"][2]["after"], 4);
  EXPECT_EQ(json["result"], 4);
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(json["passes"][i]["before"], json["passes"][i - 1]["after"]);
  }
}

TEST_F(RunTest, StdoutIsTheProgramAndStderrTheTable) {
  const Ran ran = Hone({"run", "small.hlo", "--passes", "algsimp,dce"});
  ASSERT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out.rfind("HloModule small", 0), 0u) << ran.out;
  EXPECT_EQ(ran.out.find("unused"), std::string::npos);
  EXPECT_NE(ran.err.find("algsimp"), std::string::npos);
  const Ran file = Hone({"run", "small.hlo", "--passes", "algsimp,dce", "-o", "out.hlo"});
  EXPECT_EQ(Read("out.hlo"), ran.out);
  EXPECT_EQ(file.err, "");
}

TEST_F(RunTest, OutputMayReplaceTheInput) {
  ASSERT_EQ(Hone({"run", "small.hlo", "--passes", "algsimp,dce", "-o", "small.hlo"}).code, 0);
  EXPECT_EQ(Hone({"stats", "small.hlo", "--json"}).Json()["instructions"], 4);
}

TEST_F(RunTest, Timing) {
  const auto json = Hone({"run", "small.hlo", "--passes", "dce", "--timing", "--json"}).Json();
  EXPECT_GE(json["timing"]["passes_run"].get<int>(), 1);
  EXPECT_GT(json["timing"]["in_xla"].get<double>(), 0);
}

// Layout assignment does not accept bitcasts.
TEST_F(RunTest, AFailingPassEndsTheRunAndNothingIsWritten) {
  Copy("bitcast.hlo");
  const std::vector<std::string> before = Listing();
  const std::string passes = "layout-assignment,dce";
  const Ran ran = Hone({"run", "bitcast.hlo", "--passes", passes, "-o", "out.hlo"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(IsOneMessage(ran.err));
  EXPECT_NE(ran.err.find("pass 'layout-assignment' fails: "), std::string::npos) << ran.err;
  EXPECT_EQ(Listing(), before);
  EXPECT_EQ(Hone({"run", "bitcast.hlo", "--passes", passes}).out, "");
}

TEST_F(RunTest, KeepGoingStepsOverAFailingPass) {
  Copy("bitcast.hlo");
  const Ran ran = Hone({"run", "bitcast.hlo", "--passes", "layout-assignment,dce", "--keep-going",
                        "-o", "out.hlo", "--json"});
  EXPECT_EQ(ran.code, 3);
  const auto json = ran.Json();
  ASSERT_EQ(json["passes"].size(), 2u) << ran.out;
  EXPECT_TRUE(json["passes"][0].contains("failure"));
  EXPECT_EQ(json["passes"][0]["after"], 3);
  EXPECT_EQ(json["passes"][1]["after"], 2);
  EXPECT_EQ(Hone({"stats", "out.hlo", "--json"}).Json()["instructions"], 2);
}

TEST_F(RunTest, AnInterruptEndsItAtOnce) {
  std::string passes = "dce";
  for (int i = 0; i < 10000; ++i) passes += ",algsimp";
  const Ran ran = RunProcess({"/usr/bin/timeout", "--preserve-status", "-s", "INT", "1",
                              HONE_BINARY, "run", "small.hlo", "--passes", passes, "-o", "out.hlo"},
                             folder());
  EXPECT_EQ(ran.code, 130);
  EXPECT_EQ(Listing(), std::vector<std::string>{"small.hlo"});
}

// A link of the way that made none of its rewrites, before one that changes the program.
TEST_F(RunTest, PassOfWhichNothingIsWantedBeforeOneThatChanges) {
  Write("sum.hlo", R"(HloModule sum

ENTRY main {
  a = bf16[2,64] parameter(0)
  b = bf16[2,64] parameter(1)
  ROOT sum = bf16[2,64] add(a, b)
})");
  const Ran ran = Hone({"run", "sum.hlo", "--passes",
                        "slice-sinker?not_growing,float-normalization-bf16", "-o", "out.hlo"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(Read("out.hlo").find("convert"), std::string::npos);
}

}  // namespace
}  // namespace hone
