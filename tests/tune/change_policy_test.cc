// What changes gained in programs, and what that says of another.
#include "tune/change_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "toy_evaluator.h"
#include "tune/records.h"
#include "tune/tune_program.h"

namespace hone::tune {
namespace {

using Decided = std::map<std::string, std::string>;

store::AlikeChoice Flag(const std::string& name, const std::string& value) {
  return {{"flags", name, value}, name};
}
store::AlikeChoice Site(const std::string& key, const std::string& value) {
  return {{"fusion", key, value}, "fusion_edge add multiply"};
}

store::MeasuredPlan Plan(const std::string& program, double speedup,
                         std::vector<store::AlikeChoice> choices, int pairs = 10) {
  return {program, speedup, pairs, std::move(choices)};
}

double GainOf(const std::vector<ChangeExample>& examples, const std::string& program,
              const Change& change) {
  for (const ChangeExample& one : examples) {
    const bool same = !(one.change < change) && !(change < one.change);
    if (one.program == program && same) return one.gain;
  }
  return std::nan("");
}

TEST(ChangePolicyTest, APlanIsComparedWithThoseThatLackOneChange) {
  const auto examples = ChangeExamples(
      {Plan("a", 2, {Flag("f", "1")}), Plan("a", 3, {Flag("f", "1"), Flag("g", "1")}),
       Plan("a", 1.5, {Flag("g", "1"), Flag("h", "1")}), Plan("b", 0.5, {Flag("f", "1")})});
  EXPECT_NEAR(GainOf(examples, "a", {"flags", "f", "1"}), std::log(2), 1e-9) << "without any";
  EXPECT_NEAR(GainOf(examples, "a", {"flags", "g", "1"}), std::log(1.5), 1e-9) << "on top of f";
  EXPECT_TRUE(std::isnan(GainOf(examples, "a", {"flags", "h", "1"}))) << "never apart from g";
  EXPECT_NEAR(GainOf(examples, "b", {"flags", "f", "1"}), std::log(0.5), 1e-9);
}

TEST(ChangePolicyTest, WhatAnotherKnowsCountsByItsPrograms) {
  ChangePolicy policy({{"a", {"flags", "f", "1"}, 0.3}, {"b", {"flags", "f", "1"}, 0.1}});
  policy.Add(ChangePolicy({{"c", {"flags", "f", "1"}, 0.5}, {"c", {"flags", "g", "1"}, 0.6}}));
  ASSERT_EQ(policy.known().size(), 2u);
  EXPECT_EQ(policy.known().at({"flags", "f", "1"}).programs, 3);
  EXPECT_NEAR(policy.known().at({"flags", "f", "1"}).gain, 0.3, 1e-9);
  EXPECT_NEAR(policy.known().at({"flags", "g", "1"}).gain, 0.6, 1e-9);
  // The mean of the stage, which what is not known is expected to gain.
  EXPECT_NEAR(policy.Gain({"flags", "h", "1"}), (3 * 0.3 + 0.6) / 4, 1e-9);
}

TEST(ChangePolicyTest, SitesThatAreAlikeAreOneChange) {
  const auto examples = ChangeExamples({Plan("a", 1.2, {Site("01", "keep"), Site("02", "keep")}),
                                        Plan("a", 1.1, {Site("01", "keep")}, 5),
                                        Plan("a", 1.05, {Site("01", "keep")}, 9)});
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_NEAR(examples[0].gain, std::log(1.2), 1e-9);
  const auto longer = ChangeExamples(
      {Plan("a", 1.1, {Site("01", "keep")}, 5), Plan("a", 1.05, {Site("01", "keep")}, 9)});
  ASSERT_EQ(longer.size(), 1u);
  EXPECT_NEAR(longer[0].gain, std::log(1.05), 1e-9) << "the measurement of more pairs counts";
}

TEST(ChangePolicyTest, FewProgramsSayLittle) {
  std::vector<ChangeExample> examples = {{"a", {"flags", "rare", "1"}, 0.6}};
  for (int i = 0; i < 30; ++i) {
    const std::string program = "p" + std::to_string(i);
    examples.push_back({program, {"flags", "good", "1"}, i % 3 == 0 ? -1.0 : 0.3});
    examples.push_back({program, {"flags", "bad", "1"}, -0.1});
    examples.push_back({program, {"flags", "wild", "1"}, i == 0 ? 30.0 : 0.0});
  }
  const ChangePolicy policy(examples);
  const auto gain = [&](const char* flag) { return policy.Gain({"flags", flag, "1"}); };
  EXPECT_NEAR(policy.known().at({"flags", "good", "1"}).gain, 0.2, 1e-9);
  EXPECT_GT(gain("good"), 0.15);
  EXPECT_LT(gain("rare"), 0.3);
  EXPECT_GT(gain("rare"), gain("never seen"));
  EXPECT_GT(gain("never seen"), gain("bad"));
  EXPECT_LT(gain("wild"), 0.1) << "one program does not speak for all";
  EXPECT_EQ(policy.Gain({"layout", "good", "1"}), 0);
}

TEST(ChangePolicyTest, IsJudgedOnProgramsThatItHasNotLearntFrom) {
  std::vector<ChangeExample> examples;
  for (int i = 0; i < 40; ++i) {
    const std::string program = "p" + std::to_string(i);
    for (int flag = 0; flag < 10; ++flag) {
      // The eighth helps everywhere, and one that is each program's own a little less.
      const double gain = flag == 7 ? 0.5 : flag == i % 7 ? 0.4 : -0.1;
      examples.push_back({program, {"flags", "f" + std::to_string(flag), "1"}, gain});
    }
  }
  const ChangePolicyQuality quality = CrossValidate(examples);
  EXPECT_EQ(quality.programs, 40);
  EXPECT_EQ(quality.within[0], 1);
  EXPECT_NEAR(quality.by_chance[0], 0.1, 1e-9);
  EXPECT_NEAR(quality.by_chance[1], 0.3, 1e-9);
  // What only its own program tells is no help.
  for (ChangeExample& one : examples) {
    if (one.change.like == "f7") one.gain = -0.1;
  }
  EXPECT_LT(CrossValidate(examples).within[0], 0.3);
  examples.resize(5);
  EXPECT_EQ(CrossValidate(examples).programs, 0);
}

TEST(ChangePolicyTest, IsReadAsItIsWritten) {
  const ChangePolicy policy({{"a", {"flags", "f", "1"}, 0.25}, {"a", {"tiles", "t", "4"}, -1}});
  const auto read = ChangePolicy::FromJson(policy.ToJson());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->ToJson(), policy.ToJson());
  EXPECT_EQ(read->Gain({"flags", "f", "1"}), policy.Gain({"flags", "f", "1"}));
  for (const char* text :
       {"", "[]", "{\"format\": \"hone change policy\", \"version\": 2, \"changes\": []}",
        "{\"format\": \"hone change policy\", \"version\": 1}",
        "{\"format\": \"hone change policy\", \"version\": 1, \"changes\": [{\"stage\": "
        "\"flags\"}]}"}) {
    const auto bad = ChangePolicy::FromJson(text);
    ASSERT_FALSE(bad) << text;
    EXPECT_EQ(bad.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(bad.error().message.find("field '"), std::string::npos) << bad.error().message;
  }
}

TEST(ChangePolicyTest, TheOneThatComesWithHoneCanBeRead) {
  const ChangePolicy& policy = ChangePolicy::Shipped();
  ASSERT_FALSE(policy.known().empty());
  std::string best;
  double most = 0;
  for (const auto& [change, known] : policy.known()) {
    EXPECT_TRUE(StageFromName(change.stage)) << change.stage;
    if (change.stage == "flags" && policy.Gain(change) > most) {
      most = policy.Gain(change);
      best = change.like;
    }
  }
  EXPECT_GT(most, 0.05) << best;
}

// Sixty flags, one of which helps; in which order they come the program alone does not tell.
ToyEvaluator MakeFlags() {
  ToyEvaluator toy([](const Decided& decided) {
    return decided.count("flag47") != 0 ? -0.3 : 0.01 * static_cast<double>(decided.size());
  });
  for (int i = 0; i < 60; ++i) toy.AddFlag("flag" + std::to_string(i), {"off", "on"});
  return toy;
}

TEST(ChangePolicyTest, WhatAProgramTaughtIsTriedFirst) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "hone-change-policy-test.db").string();
  std::filesystem::remove(path);
  const auto store = store::Store::Open(path);
  ASSERT_TRUE(store);
  TuneOptions options;
  options.budget_seconds = 1e6;
  options.budget_evaluations = 100;
  options.strategy = "exhaustive";  // each flag alone
  const store::ProgramRow row{"aa", "module", "aa.hlo", 10};
  ASSERT_TRUE(BeginRecords(**store, {"a processor", 2, "xla 1", "hone 1"}, row, false, options));
  ToyEvaluator teacher = MakeFlags();
  ASSERT_TRUE(TuneProgram(teacher, options).kept);
  const auto plans = (*store)->MeasuredPlans();
  ASSERT_TRUE(plans);
  const auto evaluations = [](ChangePolicy policy) {
    TuneOptions few;
    few.budget_seconds = 1e6;
    few.budget_evaluations = 4;
    few.policy = std::move(policy);
    ToyEvaluator toy = MakeFlags();
    const TuneResult result = TuneProgram(toy, few);
    return result.kept ? result.improvements.front().evaluations : INT64_MAX;
  };
  EXPECT_EQ(evaluations(ChangePolicy()), INT64_MAX);
  EXPECT_LE(evaluations(ChangePolicy(ChangeExamples(*plans))), 2);
  std::filesystem::remove(path);
}

TEST(ChangePolicyTest, SitesThatTakeLittleTimePromiseLittle) {
  const ChangePolicy policy(
      {{"a", {"tiles", "partitions fusion", "4"}, 0.4}, {"a", {"flags", "f", "on"}, 0.4}});
  Compiled listing;
  for (SiteKey key = 1; key <= 3; ++key) {
    CompileSite site;
    site.key = key;
    site.kind = CompileSiteKind::kPartitions;
    site.opcode = "fusion";
    site.bytes = key == 1 ? 1000 : 100;
    site.choices = {"1", "4"};
    listing.sites.push_back(site);
  }
  listing.flag_choices.push_back({"f", {"off", "on"}});
  Space space;
  ASSERT_TRUE(AddListing(listing, AllStages(), KernelShares(), space));
  const double most = Promise(policy, space, {0}, 1);
  EXPECT_NEAR(most, policy.Gain({"tiles", "partitions fusion", "4"}), 1e-9);
  EXPECT_NEAR(Promise(policy, space, {1}, 1), 0.1 * most, 1e-9);
  EXPECT_NEAR(Promise(policy, space, {1, 2}, 1), 0.2 * most, 1e-9);
  EXPECT_NEAR(Promise(policy, space, {3}, 1), policy.Gain({"flags", "f", "on"}), 1e-9);
}

}  // namespace
}  // namespace hone::tune
