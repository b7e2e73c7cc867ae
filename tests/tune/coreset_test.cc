#include "tune/coreset.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hone {
namespace {

using Indices = std::vector<size_t>;
using Gains = std::vector<std::vector<double>>;

void ExpectMeans(const Cover& cover, const std::vector<double>& means) {
  ASSERT_EQ(cover.mean.size(), means.size());
  for (size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(cover.mean[i], means[i], 1e-12) << i;
}

TEST(ChooseCover, TakesWhatCoversMostOfTheRest) {
  // {0 1 2}, {0 3}, {3 4 5 6}, {2 3}, {}: the third, then the first, which is all.
  const Cover cover = ChooseCover({{1, 1, 1, 0, 0, 0, 0},
                                   {1, 0, 0, 1, 0, 0, 0},
                                   {0, 0, 0, 1, 1, 1, 1},
                                   {0, 0, 1, 1, 0, 0, 0},
                                   {0, 0, 0, 0, 0, 0, 0}},
                                  5);
  EXPECT_EQ(cover.chosen, (Indices{2, 0}));
  ExpectMeans(cover, {4.0 / 7, 1});
}

TEST(ChooseCover, AddsUpWhatIsBetterThanBefore) {
  // 1.8; then +0.6 by the second, whose sum is the second least; then +0.25, then +0.1.
  const Cover cover = ChooseCover(
      {{0.9, 0.9, 0, 0}, {0, 0, 0.6, 0}, {0.8, 0.8, 0.05, 0.1}, {0, 1.15, 0, 0}, {0, 0, 0, 0}}, 10);
  EXPECT_EQ(cover.chosen, (Indices{0, 1, 3, 2}));
  ExpectMeans(cover, {1.8 / 4, 2.4 / 4, 2.65 / 4, 2.75 / 4});
}

// The first two together cover all; the third, which covers more than each, comes first.
TEST(ChooseCover, IsGreedyAndTakesTheFirstOfEquals) {
  const Gains gains = {{1, 1, 0, 0}, {0, 0, 1, 1}, {0, 1.25, 1.25, 0}};
  const Cover cover = ChooseCover(gains, 3);
  EXPECT_EQ(cover.chosen, (Indices{2, 0, 1}));
  ExpectMeans(cover, {2.5 / 4, 3.5 / 4, 4.5 / 4});
  EXPECT_EQ(ChooseCover({{1, 0}, {1, 0}, {0, 1}, {0, 1}}, 4).chosen, (Indices{0, 2}));
}

TEST(ChooseCover, TakesNoMoreThanItMay) {
  const Gains gains = {{1, 0, 0}, {0, 3, 0}, {0, 0, 2}};
  EXPECT_TRUE(ChooseCover(gains, 0).chosen.empty());
  EXPECT_EQ(ChooseCover(gains, 1).chosen, (Indices{1}));
  EXPECT_EQ(ChooseCover(gains, 2).chosen, (Indices{1, 2}));
  ExpectMeans(ChooseCover(gains, 2), {1, 5.0 / 3});
  EXPECT_EQ(ChooseCover(gains, 3).chosen, (Indices{1, 2, 0}));
}

TEST(ChooseCover, EndsWhereNothingIsRaised) {
  EXPECT_EQ(ChooseCover({{2, 2}, {1, 2}, {2, 1}}, 9).chosen, (Indices{0}));
  EXPECT_TRUE(ChooseCover({{0, 0}, {0, 0}}, 9).chosen.empty());
  // To harm a program is to leave it.
  EXPECT_TRUE(ChooseCover({{-1, -2}, {-3, 0}}, 9).chosen.empty());
  const Cover cover = ChooseCover({{-100, 1}, {0.5, 0}}, 9);
  EXPECT_EQ(cover.chosen, (Indices{0, 1}));
  ExpectMeans(cover, {0.5, 0.75});
}

TEST(ChooseCover, OfNothing) {
  for (const Gains& gains : {Gains{}, Gains{{}}, Gains{{}, {}}}) {
    const Cover cover = ChooseCover(gains, 3);
    EXPECT_TRUE(cover.chosen.empty());
    EXPECT_TRUE(cover.mean.empty());
  }
}

Coreset Example() {
  return {"op_count",
          "simplify",
          "3 programs, \"Größe\"\n",
          {{"dce", "algsimp:1"}, {"cse"}, {}, {"a", "b", "c"}},
          {0.5, 2.0 / 3, 1.0 / 3, 1}};
}

TEST(CoresetJson, ReadsWhatItWrote) {
  const std::string text = CoresetToJson(Example());
  EXPECT_EQ(text.back(), '\n');
  const auto read = CoresetFromJson(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->objective, Example().objective);
  EXPECT_EQ(read->actions, Example().actions);
  EXPECT_EQ(read->made_of, Example().made_of);
  EXPECT_EQ(read->sequences, Example().sequences);
  EXPECT_EQ(read->coverage, Example().coverage);
  EXPECT_EQ(CoresetToJson(*read), text);
}

TEST(CoresetJson, ReadsOneWrittenByHand) {
  const auto read = CoresetFromJson(
      R"({"sequences": [{"passes": ["b", "a"]}, {"coverage": 1, "passes": ["c"]}],
          "more": [], "format": "hone-coreset-1", "objective": "flops"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->objective, "flops");
  EXPECT_EQ(read->actions, "");
  EXPECT_EQ(read->sequences, (std::vector<std::vector<std::string>>{{"b", "a"}, {"c"}}));
  EXPECT_EQ(read->coverage, (std::vector<double>{0, 1}));
}

TEST(CoresetJson, SaysWhatIsWrong) {
  const auto error_of = [](const std::string& text) {
    const auto read = CoresetFromJson(text);
    if (read) return std::string();
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput);
    EXPECT_TRUE(read.error().message.starts_with("it is not a coreset: "));
    EXPECT_NE(read.error().message.find("hone coreset"), std::string::npos);
    return read.error().message;
  };
  const auto says = [&](const std::string& text, const std::string& what) {
    EXPECT_NE(error_of(text).find(what), std::string::npos) << text << ": " << error_of(text);
  };
  const auto with = [](const std::string& sequences) {
    return R"({"format":"hone-coreset-1","sequences":)" + sequences + "}";
  };
  ASSERT_EQ(error_of(with(R"([{"passes":["a"]}])")), "");
  for (const std::string text : {"", "{", "[]", "null", "5", "\xff"}) {
    says(text, "not a JSON object");
  }
  const std::string whole = CoresetToJson(Example());
  for (size_t length = 0; length + 2 < whole.size(); ++length) {
    says(whole.substr(0, length), "not a JSON object");
  }
  for (const std::string text :
       {"{}", R"({"sequences":[{"passes":["a"]}]})", R"({"format":1,"sequences":[]})",
        R"({"format":"hone-coreset-2","sequences":[{"passes":["a"]}]})"}) {
    says(text, "format is not hone-coreset-1");
  }
  says(R"({"format":"hone-coreset-1"})", "no sequences");
  for (const std::string sequences : {"[]", "{}", "null", "\"a\""}) {
    says(with(sequences), "no sequences");
  }
  for (const std::string entry : {"5", "[\"a\"]", "{}", R"({"passes":"a"})", R"({"passes":{}})"}) {
    says(with(R"([{"passes":["a"]},)" + entry + "]"), "a sequence has no passes");
  }
  for (const std::string pass : {"1", "null", "[\"a\"]", "{}"}) {
    says(with(R"([{"passes":["a",)" + pass + "]}]"), "a pass is not a string");
  }
}

TEST(CoresetJson, BearsDeepNesting) {
  const std::string deep = std::string(50'000, '[') + std::string(50'000, ']');
  for (const std::string& sequences :
       {deep, "[{\"passes\":" + deep + "}]", "[{\"passes\":[\"a\"],\"coverage\":" + deep + "}]"}) {
    const std::string text = R"({"format":"hone-coreset-1","sequences":)" + sequences + "}";
    const auto read = CoresetFromJson(text);
    EXPECT_EQ(static_cast<bool>(read), sequences.find("coverage") != std::string::npos);
  }
}

}  // namespace
}  // namespace hone
