#include "policy/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace hone::policy {
namespace {

using Names = std::vector<std::string>;

std::vector<PassInfo> Passes(const Names& names) {
  std::vector<PassInfo> passes;
  for (const std::string& name : names) passes.push_back({name, "", "", {}, "", false});
  return passes;
}

Features MakeFeatures(const std::string& kind, const Names& opcodes, const Names& actions,
                      const Names& known_opcodes, const Names& passes) {
  const auto features = Features::Make(kind, opcodes, actions, known_opcodes, Passes(passes));
  EXPECT_TRUE(features) << features.error().message;
  return *features;
}

std::vector<float> Row(const Features& features, const OpcodeCounts& opcodes, int64_t initial,
                       const std::vector<PassId>& changes) {
  // What was there before is of no matter.
  std::vector<float> row(static_cast<size_t>(features.size()), 777);
  features.Write(opcodes, initial, changes, row);
  return row;
}

void ExpectNear(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

const Names kOpcodes = {"add", "dot", "copy"};
const Names kActions = {"dce", "cse"};

TEST(Features, HaveTheSizesOfTheirKinds) {
  EXPECT_EQ(FeatureKinds(), (Names{"hone", "counts"}));
  for (const size_t opcodes : {0, 1, 7}) {
    for (const size_t actions : {0, 1, 5}) {
      const Names names(opcodes, "o");
      const Names passes(actions, "a");
      EXPECT_EQ(MakeFeatures("counts", names, passes, {}, {}).size(), opcodes);
      EXPECT_EQ(MakeFeatures("hone", names, passes, {}, {}).size(), 2 * opcodes + 2 * actions + 3);
    }
  }
}

TEST(Features, CountsAreCountsOverTheInitialCount) {
  const Features features = MakeFeatures("counts", kOpcodes, kActions, kOpcodes, kActions);
  ExpectNear(Row(features, {{0, 5}, {2, 30}}, 20, {0, 1}), {0.25, 0, 1.5});
  ExpectNear(Row(features, {}, 20, {}), {0, 0, 0});
  ExpectNear(Row(features, {{1, 3}}, 0, {}), {0, 3, 0});  // a program of nothing
}

// A trained network knows no other numbers than these.
TEST(Features, HoneIsTheseNumbers) {
  const Features features = MakeFeatures("hone", kOpcodes, kActions, kOpcodes, kActions);
  ExpectNear(Row(features, {{0, 5}, {2, 30}}, 20, {0, 1, 0, 0}),
             {0.25, 0, 1.5,                              // counts
              std::log(6) / 8, 0, std::log(31) / 8,      // their logarithms
              1 + 0.7 + 0.7 * 0.7 * 0.7, 0.7 * 0.7,      // how lately
              0.75, 0.25,                                // how often
              std::log(36) / 10, 35.0 / 20, 4.0 / 32});  // the op count, the changes
}

TEST(Features, ATraceFadesByTheSameFactorWithEveryChange) {
  const Names actions = {"a", "b", "c", "never"};
  const Features features = MakeFeatures("hone", {}, actions, {}, actions);
  const std::vector<float> row = Row(features, {}, 1, {2, 0, 1});
  EXPECT_EQ(row[1], 1);
  EXPECT_LT(row[0], row[1]);
  EXPECT_GT(row[2], 0);
  EXPECT_NEAR(row[2], row[0] * row[0], 1e-6);
  EXPECT_EQ(row[3], 0);
  // The same passes in another order are another trace, but as often.
  const std::vector<float> other = Row(features, {}, 1, {0, 1, 2});
  EXPECT_NE(std::vector<float>(row.begin(), row.begin() + 4),
            std::vector<float>(other.begin(), other.begin() + 4));
  EXPECT_TRUE(std::equal(row.begin() + 4, row.end(), other.begin() + 4));
}

TEST(Features, HowOftenAndHowLongEndAtOne) {
  const Features features = MakeFeatures("hone", {}, {"a"}, {}, {"a"});
  float before = 0;
  for (size_t times = 1; times <= 40; ++times) {
    const std::vector<float> row = Row(features, {}, 1, std::vector<PassId>(times, 0));
    EXPECT_LT(row[0], 1 / (1 - 0.7) + 1e-5);
    EXPECT_EQ(row[1], times < 4 ? 0.25f * static_cast<float>(times) : 1);
    EXPECT_EQ(row[4], times < 32 ? static_cast<float>(times) / 32 : 1);
    EXPECT_GT(row[0], before * 0.999f);
    before = row[0];
  }
}

// "new_op" and "new_pass" came with a later XLA, "old_op" and "old_pass" went with it.
TEST(Features, LeaveOutWhatOneSideDoesNotKnow) {
  const Features counts =
      MakeFeatures("counts", {"old_op", "dot"}, {}, {"new_op", "dot", "add"}, {});
  ExpectNear(Row(counts, {{0, 8}, {1, 6}, {2, 2}}, 4, {}), {0, 1.5});
  const Features features = MakeFeatures("hone", {"old_op", "dot"}, {"old_pass", "cse"},
                                         {"new_op", "dot"}, {"new_pass", "cse"});
  // What is not known still counts among all instructions and all changes.
  ExpectNear(Row(features, {{0, 8}, {1, 6}}, 4, {1, 0}),
             {0, 1.5, 0, std::log(7) / 8, 0, 0.7, 0, 0.25, std::log(15) / 10, 14.0 / 4, 2.0 / 32});
}

TEST(Features, FollowTheOrderOfTheVocabulary) {
  const Names opcodes = {"add", "dot", "copy", "fusion", "while"};
  const Names actions = {"a", "b", "c", "d"};
  const std::vector<size_t> opcode_order = {3, 0, 4, 2, 1};
  const std::vector<size_t> action_order = {2, 3, 1, 0};
  Names shuffled_opcodes;
  Names shuffled_actions;
  for (const size_t i : opcode_order) shuffled_opcodes.push_back(opcodes[i]);
  for (const size_t i : action_order) shuffled_actions.push_back(actions[i]);
  const OpcodeCounts counts = {{0, 1}, {1, 20}, {2, 300}, {4, 4000}};
  const std::vector<PassId> changes = {3, 1, 0, 1};
  for (const std::string& kind : FeatureKinds()) {
    const auto row =
        Row(MakeFeatures(kind, opcodes, actions, opcodes, actions), counts, 9, changes);
    const auto shuffled =
        Row(MakeFeatures(kind, shuffled_opcodes, shuffled_actions, opcodes, actions), counts, 9,
            changes);
    std::vector<float> expected = row;
    for (size_t i = 0; i < opcodes.size(); ++i) {
      expected[i] = row[opcode_order[i]];
      if (kind == "hone") expected[5 + i] = row[5 + opcode_order[i]];
    }
    for (size_t i = 0; kind == "hone" && i < actions.size(); ++i) {
      expected[10 + i] = row[10 + action_order[i]];
      expected[14 + i] = row[14 + action_order[i]];
    }
    EXPECT_EQ(shuffled, expected);
    EXPECT_NE(shuffled, row);
  }
}

TEST(Features, FollowTheNamesOfTheXlaAtHand) {
  const Names opcodes = {"add", "dot", "copy"};
  for (const std::string& kind : FeatureKinds()) {
    EXPECT_EQ(Row(MakeFeatures(kind, opcodes, {"a", "b"}, {"add", "dot", "copy"}, {"a", "b"}),
                  {{0, 1}, {1, 20}, {2, 300}}, 9, {0, 1, 1}),
              Row(MakeFeatures(kind, opcodes, {"a", "b"}, {"copy", "add", "dot"}, {"b", "a"}),
                  {{0, 300}, {1, 1}, {2, 20}}, 9, {1, 0, 0}));
  }
}

TEST(Features, SuggestAKindForOneThatThereIsNot) {
  const auto features = Features::Make("count", kOpcodes, kActions, kOpcodes, Passes(kActions));
  ASSERT_FALSE(features);
  EXPECT_EQ(features.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(features.error().message.find("'count'"), std::string::npos);
  EXPECT_NE(features.error().message.find("did you mean 'counts'?"), std::string::npos);
  EXPECT_FALSE(Features::Make("", {}, {}, {}, {}));
}

}  // namespace
}  // namespace hone::policy
