#include "blame/differences.h"

#include <gtest/gtest.h>

#include <numeric>

namespace hone::blame {
namespace {

using tune::TunePlan;

TunePlan Plan(const std::vector<std::string>& passes,
              const std::vector<std::pair<SiteKey, std::string>>& choices = {},
              const std::vector<std::pair<std::string, std::string>>& flags = {}) {
  TunePlan plan;
  for (const std::string& pass : passes) plan.passes.push_back({pass, {}});
  for (const auto& [key, value] : choices) plan.compile.choices.push_back({key, value});
  plan.compile.flags = flags;
  Sort(plan.compile);
  return plan;
}

std::vector<size_t> All(const Differences& differences) {
  std::vector<size_t> all(differences.list().size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

TEST(Differences, NoneIsTheOneAndAllTheOther) {
  const std::vector<TunePlan> plans = {
      Plan({}),
      Plan({"algsimp", "cse", "dce"}, {{7, "keep"}}, {{"xla_x", "1"}}),
      Plan({"cse", "algsimp", "cse"}, {{7, "fuse"}, {9, "4"}}, {{"xla_y", "2"}}),
      Plan({"dce"}, {}, {{"xla_x", "2"}, {"xla_y", "2"}}),
  };
  for (const TunePlan& a : plans) {
    for (const TunePlan& b : plans) {
      const Differences differences(a, b);
      EXPECT_EQ(differences.With({}), a);
      EXPECT_EQ(differences.With(All(differences)), b);
      EXPECT_EQ(differences.list().empty(), a == b);
    }
  }
}

TEST(Differences, EachIsADecision) {
  const Differences differences(Plan({"algsimp", "dce"}, {{7, "keep"}}, {{"xla_x", "1"}}),
                                Plan({"algsimp", "cse", "dce"}, {}, {{"xla_x", "2"}}));
  const auto& list = differences.list();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].kind, DifferenceKind::kPass);
  EXPECT_EQ(list[0].name, "cse");
  EXPECT_EQ(list[0].to, "run");
  EXPECT_EQ(list[1].kind, DifferenceKind::kChoice);
  EXPECT_EQ(list[1].name, "0000000000000007");
  EXPECT_EQ(list[1].from, "keep");
  EXPECT_EQ(list[1].to, "");
  EXPECT_EQ(list[2].kind, DifferenceKind::kFlag);
  EXPECT_EQ(list[2].from, "1");
  EXPECT_EQ(list[2].to, "2");
}

TEST(Differences, BetweenThemPassesKeepTheirOrder) {
  const Differences differences(Plan({"algsimp", "dce"}),
                                Plan({"cse", "algsimp", "reshape-mover"}));
  ASSERT_EQ(differences.list().size(), 3u) << "cse and reshape-mover more, dce less";
  EXPECT_EQ(differences.list()[0].name, "cse");
  EXPECT_EQ(differences.With({0}), Plan({"cse", "algsimp", "dce"}));
  EXPECT_EQ(differences.PassIn({0}, 0), 0u);
  for (size_t i = 1; i < 3; ++i) {
    if (differences.list()[i].name != "reshape-mover") continue;
    const TunePlan plan = differences.With({i});
    EXPECT_EQ(plan.passes[differences.PassIn({i}, i)].pass, "reshape-mover");
  }
}

}  // namespace
}  // namespace hone::blame
