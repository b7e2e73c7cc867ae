// hone --device as a user runs it: what is no device, and a plugin that really compiles.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "hone_process.h"

namespace hone {
namespace {

std::string Fake(const std::string& plugin) {
  return "pjrt:" + std::string(HONE_PLUGINS) + "/" + plugin;
}

class DeviceTest : public HoneTest {
 protected:
  DeviceTest() {
    constexpr const char* kAdd = R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
)";
    constexpr const char* kMain = R"(
ENTRY main {
  x = f32[256,64] parameter(0)
  y = f32[64,256] parameter(1)
  n = s32[256] parameter(2)
  zero = f32[] constant(0)
)";
    const std::string sums = std::string("HloModule sums\n") + kAdd + kMain;
    Write("sum.hlo", sums + R"(
  product = f32[256,256] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sums = f32[256] reduce(product, zero), dimensions={1}, to_apply=add
  ROOT both = (f32[256], s32[256]) tuple(sums, n)
}
)");
    // The same sums of products in another order.
    Write("other_order.hlo", sums + R"(
  columns = f32[64] reduce(y, zero), dimensions={1}, to_apply=add
  sums = f32[256] dot(x, columns), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT both = (f32[256], s32[256]) tuple(sums, n)
}
)");
    Write("other.hlo", std::string("HloModule other\n") + kMain + R"(
  zeros = f32[256] broadcast(zero), dimensions={}
  ROOT both = (f32[256], s32[256]) tuple(zeros, n)
}
)");
  }
};

TEST_F(DeviceTest, WhatIsNoDeviceIsToldAtOnce) {
  const std::vector<std::vector<std::string>> calls = {
      {"device"},
      {"device", "info"},
      {"device", "info", "cuda"},
      {"device", "flags", "abacus"},
      {"device", "info", "pjrt:missing.so"},
      {"device", "info", Fake("no_plugin.so")},
      {"device", "info", Fake("old_plugin.so")},
      {"device", "info", Fake("fake_plugin.so,fail=create")},
      {"tune", "sum.hlo", "--device", "cuda"},
      {"tune", "sum.hlo", "--device", "pjrt:missing.so", "--plan", "plan.json"},
      {"tune", "sum.hlo", "--device", Fake("fake_plugin.so"), "--stages", "order,layout"},
      {"tune", "sum.hlo", "--device", Fake("fake_plugin.so"), "--cost-model", "roofline"},
      {"bench", "sum.hlo", "--device", Fake("no_plugin.so")},
      {"check", "sum.hlo", "sum.hlo", "--device", Fake("no_plugin.so")},
      {"optimize", "sum.hlo", "--device", Fake("no_plugin.so"), "-o", "out.hlo"},
  };
  for (const std::vector<std::string>& call : calls) {
    std::string what;
    for (const std::string& word : call) what += word + " ";
    const Ran ran = Hone(call);
    EXPECT_EQ(ran.code, 2) << what << ran.err;
    EXPECT_GT(ran.err.size(), 20u) << what;
  }
  EXPECT_EQ(Listing(), (std::vector<std::string>{"other.hlo", "other_order.hlo", "sum.hlo"}));
  EXPECT_TRUE(IsOneMessage(Hone({"device", "info", "pjrt:missing.so"}).err));
}

TEST_F(DeviceTest, FlagsAndFakesAreShown) {
  const Ran flags = Hone({"device", "flags", "gpu", "--json"});
  ASSERT_EQ(flags.code, 0) << flags.err;
  const auto listed = flags.Json();
  EXPECT_GT(listed["flags"].size(), 5u);
  for (const auto& flag : listed["flags"]) EXPECT_EQ(flag["platform"], "gpu");
  const Ran info = Hone({"device", "info", Fake("fake_plugin.so"), "--json"});
  ASSERT_EQ(info.code, 0) << info.err;
  EXPECT_EQ(info.Json()["platform"], "fake");
  EXPECT_EQ(info.Json()["devices"][0]["kind"], "paper");
  EXPECT_NE(Hone({"device", "info", Fake("fake_plugin.so")}).out.find("paper, id 7"),
            std::string::npos);
}

// A program that aborts in the plugin's compiler is an answer, not the end of hone.
TEST_F(DeviceTest, APluginThatAbortsIsReported) {
  const Ran bench = Hone({"bench", "sum.hlo", "--device", Fake("fake_plugin.so,fail=abort")});
  EXPECT_EQ(bench.code, 3) << bench.out << bench.err;
  EXPECT_NE(bench.err.find("killed by Aborted"), std::string::npos) << bench.err;
  const Ran check =
      Hone({"check", "sum.hlo", "other.hlo", "--device", Fake("fake_plugin.so,fail=abort")});
  EXPECT_EQ(check.code, 4) << check.out << check.err;
  EXPECT_NE(check.out.find("killed by Aborted"), std::string::npos) << check.out;
}

class CpuPluginTest : public DeviceTest {
 protected:
  void SetUp() override {
    if (access(HONE_CPU_PLUGIN, R_OK) != 0) {
      GTEST_SKIP() << "there is no " << HONE_CPU_PLUGIN << ": run setup/install --pjrt";
    }
  }
  const std::string plugin_ = "pjrt:" HONE_CPU_PLUGIN;
};

TEST_F(CpuPluginTest, SaysWhatItIs) {
  const Ran ran = Hone({"device", "info", plugin_, "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["platform"], "cpu");
  EXPECT_GE(ran.Json()["devices"].size(), 1u);
  EXPECT_GT(ran.Json()["flags"], 3);
  const Ran second = Hone({"device", "info", plugin_ + ",device=1000"});
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find("it has no device 1000"), std::string::npos) << second.err;
}

TEST_F(CpuPluginTest, ChecksWhatIsComputed) {
  const auto check = [&](const std::string& b) {
    return Hone({"check", "sum.hlo", b, "--device", plugin_, "--json"});
  };
  const Ran same = check("other_order.hlo");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_EQ(same.Json()["verdict"], "equal");
  EXPECT_EQ(same.Json()["inputs"], 3);
  EXPECT_GT(same.Json()["worst_error"], 0) << "other sums are rounded otherwise";
  const Ran other = check("other.hlo");
  EXPECT_EQ(other.code, 1) << other.out << other.err;
}

TEST_F(CpuPluginTest, BenchesPlansWithPassesAndFlags) {
  Write("plan.json",
        "{\"format\": \"hone tuned plan\", \"passes\": [\"algsimp\"], "
        "\"flags\": {\"xla_llvm_disable_expensive_passes\": \"true\"}}");
  const Ran ran = Hone({"bench", "sum.hlo", "--plan", "plan.json", "--device", plugin_, "--budget",
                        "0.3s", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = ran.Json();
  EXPECT_FALSE(json["same_executable"]);
  EXPECT_GT(json["pairs"], 0);
  EXPECT_GT(json["stock_ms"], 0);
  EXPECT_GT(json["compile_seconds"][1], 0);
  EXPECT_EQ(json["device"]["platform"], "cpu");
  Write("plan.json",
        "{\"format\": \"hone tuned plan\", \"flags\": {\"xla_no_such_flag\": \"true\"}}");
  const Ran bad = Hone({"bench", "sum.hlo", "--plan", "plan.json", "--device", plugin_});
  EXPECT_NE(bad.code, 0);
  EXPECT_NE(bad.err.find("xla_no_such_flag"), std::string::npos) << bad.err;
  Write("plan.json",
        "{\"format\": \"hone tuned plan\", \"choices\": {\"0123456789abcdef\": \"keep\"}}");
  const Ran inner = Hone({"bench", "sum.hlo", "--plan", "plan.json", "--device", plugin_});
  EXPECT_EQ(inner.code, 2) << inner.err;
}

TEST_F(CpuPluginTest, TunesVerifiesAndConfirms) {
  const Ran ran = Hone({"tune", "sum.hlo", "--device", plugin_, "--budget", "3s", "--plan",
                        "plan.json", "-o", "out.hlo", "--store", "tuned.db", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = ran.Json();
  EXPECT_EQ(json["device"]["platform"], "cpu");
  EXPECT_GT(json["variables"], 3);
  EXPECT_TRUE(json["kept"] == "tuned" || !json["reason"].get<std::string>().empty());
  if (json["kept"] == "tuned") {
    EXPECT_EQ(json["verified"], true);
    EXPECT_GT(json["speedup_ci"][0], 1);
  }
  EXPECT_NE(Read("plan.json").find("hone tuned plan"), std::string::npos);
  EXPECT_NE(Read("out.hlo").find("HloModule"), std::string::npos);
}

TEST_F(CpuPluginTest, OptimizeMeasuresItsResult) {
  const Ran ran = Hone({"optimize", "sum.hlo", "--device", plugin_, "--budget", "200steps",
                        "--device-budget", "0.5s", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto device = ran.Json()["on_device"];
  EXPECT_EQ(device["platform"], "cpu");
  EXPECT_TRUE(device["verified"] == true) << device;
  EXPECT_GT(device["speedup"], 0);
}

}  // namespace
}  // namespace hone
