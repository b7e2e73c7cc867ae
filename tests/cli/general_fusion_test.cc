#include <gtest/gtest.h>

#include <set>

#include "hone_process.h"

namespace hone {
namespace {

// t and v are results; r is a reduction of v.
constexpr char kProgram[] = R"(HloModule chain
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[16,8]{1,0} parameter(0)
  y = f32[16,8]{1,0} parameter(1)
  z = f32[] constant(0)
  t = f32[16,8]{1,0} tanh(x)
  u = f32[16,8]{1,0} multiply(t, y)
  v = f32[16,8]{1,0} sine(u)
  r = f32[16]{0} reduce(v, z), dimensions={1}, to_apply=add
  w = f32[16,8]{1,0} broadcast(r), dimensions={0}
  ROOT out = (f32[16,8]{1,0}, f32[16,8]{1,0}, f32[16,8]{1,0}) tuple(t, v, w)
})";

class GeneralFusionTest : public HoneTest {
 protected:
  GeneralFusionTest() { Write("chain.hlo", kProgram); }

  nlohmann::json Sites(const std::string& pass) {
    return Hone({"rewrites", "chain.hlo", "--pass", pass, "--json"}).Json()["sites"];
  }

  // Proposes the pairs in which these instructions are the producers.
  Ran Propose(const std::string& pass, const std::set<std::string>& producers) {
    std::string chosen;
    for (const auto& site : Sites(pass)) {
      if (!producers.count(site["instruction"].get<std::string>())) continue;
      chosen += (chosen.empty() ? "" : ",") + std::to_string(site["id"].get<int>());
    }
    return Hone({"rewrites", "chain.hlo", "--pass", pass, "--apply", chosen, "--verify", "-o",
                 "out.hlo", "--json"});
  }

  int Count(const std::string& what) const {
    const std::string text = Read("out.hlo");
    int count = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  }
};

TEST_F(GeneralFusionTest, OffersEveryPair) {
  std::set<std::string> pairs;
  for (const auto& site : Sites("general_fusion")) {
    EXPECT_EQ(site["kind"], "fuse");
    pairs.insert(site["instruction"].get<std::string>());
  }
  EXPECT_EQ(pairs, (std::set<std::string>{"t", "u", "v", "r"}));
}

TEST_F(GeneralFusionTest, AChosenGroupIsOneFusion) {
  const Ran ran = Propose("general_fusion", {"u"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["verified"], "true") << ran.out;
  EXPECT_EQ(Count(" fusion("), 1);
  EXPECT_EQ(Count(" multiply("), 1) << "nobody else needs u";
}

TEST_F(GeneralFusionTest, WhatOthersNeedStays) {
  const Ran ran = Propose("general_fusion", {"t", "u", "v"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["verified"], "true") << ran.out;
  EXPECT_EQ(Count(" fusion("), 2) << "a loop over 16 and one over 16 x 8";
  EXPECT_EQ(Count(" tanh("), 3) << "t is a result, too";
}

TEST_F(GeneralFusionTest, AllIsThePassAndNoneIsTheProgram) {
  const std::vector<std::string> apply = {"rewrites", "chain.hlo", "--pass", "general_fusion",
                                          "-o",       "out.hlo",   "--json", "--apply"};
  const auto with = [&](const std::string& which) {
    auto all = apply;
    all.push_back(which);
    return Hone(all);
  };
  EXPECT_FALSE(with("none").Json()["changed"].get<bool>());
  const Ran all = with("all");
  ASSERT_EQ(all.code, 0) << all.err;
  ASSERT_EQ(Hone({"run", "chain.hlo", "--passes", "general_fusion", "-o", "pass.hlo"}).code, 0);
  EXPECT_EQ(Read("out.hlo"), Read("pass.hlo"));
  EXPECT_GE(Count(" fusion("), 1);
  EXPECT_EQ(Hone({"check", "chain.hlo", "out.hlo"}).code, 0);
}

}  // namespace
}  // namespace hone
