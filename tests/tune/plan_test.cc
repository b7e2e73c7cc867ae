#include "tune/plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/file_kinds.h"
#include "tune/recipe.h"
#include "tune/tune_plan.h"

namespace hone {
namespace {

using Keys = std::vector<SiteKey>;

Plan Example() {
  Plan plan;
  plan.pass = "algsimp:layout_sensitive";
  plan.decisions.otherwise = Otherwise::kHalf;
  plan.decisions.seed = 18446744073709551615ull;
  plan.decisions.choices = {{1, true}, {0x8000000000000000ull, false}, {~SiteKey{0}, true}};
  return plan;
}

// Sites with these places, in order; contents are the places' last digits.
Rewrites Listing(const Keys& places) {
  Rewrites rewrites;
  for (SiteKey place : places) {
    RewriteSite site;
    site.place = place;
    site.content = place % 10;
    rewrites.sites.push_back(site);
  }
  return rewrites;
}

Keys Accepted(const Decisions& decisions) {
  Keys keys;
  for (const SiteChoice& choice : decisions.choices) {
    EXPECT_TRUE(choice.accept);
    keys.push_back(choice.key);
  }
  return keys;
}

TEST(FileKinds, AWrongKindIsNamed) {
  const auto says = [](const std::string& message, const char* what) {
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  const std::string of_pass = PlanToJson(Example());
  says(tune::TunePlanFromJson(of_pass).error().message, "for `hone rewrites --plan`");
  says(RecipeFromJson(of_pass).error().message, "it is a plan of one pass's rewrites");
  says(PlanFromJson(tune::TunePlanToJson({})).error().message, "it is a tuned plan");
  says(PlanFromJson("{\"format\" : \"hone memory plan\"").error().message, "hone memory simulate");
  const std::string unknown = PlanFromJson("{\"format\": \"minutes\"}").error().message;
  EXPECT_EQ(unknown.find("it is a"), std::string::npos) << unknown;
  EXPECT_EQ(FormatIn("{\"format\""), "");
  EXPECT_EQ(FormatIn("{\"format\":\"open"), "");
}

TEST(PlanJson, ReadsWhatItWrote) {
  const std::string text = PlanToJson(Example());
  EXPECT_EQ(text.back(), '\n');
  const auto read = PlanFromJson(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pass, Example().pass);
  EXPECT_EQ(read->decisions, Example().decisions);
  EXPECT_EQ(PlanToJson(*read), text);
  for (int i = 0; i < static_cast<int>(std::size(kOtherwiseNames)); ++i) {
    Plan plan;
    plan.pass = "dce";
    plan.decisions.otherwise = static_cast<Otherwise>(i);
    const auto again = PlanFromJson(PlanToJson(plan));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->decisions, plan.decisions);
  }
}

TEST(PlanJson, WhatIsLeftOutIsThePassAsItIs) {
  const auto read = PlanFromJson(R"({"format": "hone plan", "pass": "cse", "more": [1]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pass, "cse");
  EXPECT_TRUE(read->decisions.AcceptAll());
}

TEST(PlanJson, ChoicesAreSortedByKey) {
  const auto read = PlanFromJson(
      R"({"format": "hone plan", "pass": "cse", "choices":
          {"ffffffffffffffff": true, "0000000000000001": false, "0000000000000010": true}})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->decisions.choices.size(), 3u);
  EXPECT_EQ(read->decisions.choices[0], (SiteChoice{1, false}));
  EXPECT_EQ(read->decisions.choices[1], (SiteChoice{16, true}));
  EXPECT_EQ(read->decisions.choices[2], (SiteChoice{~SiteKey{0}, true}));
}

TEST(PlanJson, SaysWhatIsWrong) {
  const auto says = [](const std::string& text, const std::string& what) {
    const auto read = PlanFromJson(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(read.error().message.find(what), std::string::npos) << read.error().message;
    EXPECT_NE(read.error().message.find("--plan-out"), std::string::npos);
  };
  for (const std::string text : {"", "{", "[]", "null", "5", "\xff", "{}", R"({"pass": "dce"})",
                                 R"({"format": "hone recipe", "pass": "dce"})",
                                 R"({"format": ["hone plan"], "pass": "dce"})"}) {
    says(text, "\"format\": \"hone plan\"");
  }
  const std::string whole = PlanToJson(Example());
  for (size_t length = 0; length + 2 < whole.size(); ++length) {
    says(whole.substr(0, length), "format");
  }
  const auto with = [](const std::string& rest) {
    return R"({"format": "hone plan", )" + rest + "}";
  };
  says(with(R"("seed": 1)"), "'pass'");
  says(with(R"("pass": 7)"), "'pass'");
  for (const std::string otherwise : {"7", "null", "\"maybe\"", "\"\"", "[]"}) {
    says(with(R"("pass": "a", "otherwise": )" + otherwise), "'otherwise'");
  }
  for (const std::string seed : {"-1", "1.5", "\"1\"", "null", "1e400"}) {
    const auto read = PlanFromJson(with(R"("pass": "a", "seed": )" + seed));
    EXPECT_FALSE(read) << seed;
  }
  says(with(R"("pass": "a", "seed": -1)"), "'seed'");
  for (const std::string choices : {"[]", "null", "\"x\"", "1"}) {
    says(with(R"("pass": "a", "choices": )" + choices), "'choices'");
  }
  for (const std::string choice : {R"("x": true)", R"("": true)", R"("-1": true)", R"("0x1": true)",
                                   R"("1 ": true)", R"("11111111111111111": true)",
                                   R"("1111111111111111": 1)", R"("1111111111111111": "true")"}) {
    says(with(R"("pass": "a", "choices": {)" + choice + "}"), "hexadecimal");
  }
}

TEST(PlanJson, BearsDeepNesting) {
  const std::string deep = std::string(50'000, '[') + std::string(50'000, ']');
  EXPECT_FALSE(PlanFromJson(deep));
  EXPECT_FALSE(PlanFromJson(R"({"format": "hone plan", "pass": "a", "choices": )" + deep + "}"));
}

TEST(DecisionsFromText, KnowsNamesNumbersAndRanges) {
  const Rewrites rewrites = Listing({50, 41, 32, 23, 14});
  const auto of = [&](const std::string& text) {
    const auto decisions = DecisionsFromText(text, rewrites);
    EXPECT_TRUE(decisions) << text << ": " << decisions.error().message;
    return decisions ? *decisions : Decisions();
  };
  EXPECT_TRUE(of("all").AcceptAll());
  EXPECT_EQ(of("none").otherwise, Otherwise::kDecline);
  EXPECT_TRUE(of("none").choices.empty());
  for (const std::string_view name : kOtherwiseNames) {
    EXPECT_EQ(OtherwiseName(of(std::string(name)).otherwise), name);
    EXPECT_TRUE(of(std::string(name)).choices.empty());
  }
  for (const auto& [text, places] :
       std::vector<std::pair<std::string, Keys>>{{"0", {50}},
                                                 {"4", {14}},
                                                 {"0,3", {23, 50}},
                                                 {"3,0", {23, 50}},
                                                 {"0,0,0", {50}},
                                                 {"1-3", {23, 32, 41}},
                                                 {"0-1,4", {14, 41, 50}},
                                                 {"2-2", {32}},
                                                 {"0-4", {14, 23, 32, 41, 50}},
                                                 {"0-3,1-4", {14, 23, 32, 41, 50}}}) {
    EXPECT_EQ(of(text).otherwise, Otherwise::kDecline) << text;
    EXPECT_EQ(Accepted(of(text)), places) << text;
  }
}

TEST(DecisionsFromText, SaysWhatIsWrong) {
  const Rewrites rewrites = Listing({50, 41, 32});
  for (const std::string text : {"5x", "x", ",", "0,,1", "1-", "-1", "2-1", "0-x", "1.5", "ALL",
                                 " 0", "99999999999", "0--1"}) {
    const auto bad = DecisionsFromText(text, rewrites);
    ASSERT_FALSE(bad) << text;
    EXPECT_EQ(bad.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(bad.error().message.find("no number of a site"), std::string::npos)
        << bad.error().message;
  }
  for (const std::string text : {"3", "0,3", "0-3", "4294967295", "0-4294967295"}) {
    const auto bad = DecisionsFromText(text, rewrites);
    ASSERT_FALSE(bad) << text;
    EXPECT_NE(bad.error().message.find("the pass offers 3"), std::string::npos)
        << bad.error().message;
  }
}

TEST(ChooseContents, IsByMajorityWhereSitesLookTheSame) {
  // Contents 1: places 1, 11, 21. Contents 2: 2, 12. Contents 3: 3.
  const Rewrites rewrites = Listing({1, 11, 21, 2, 12, 3});
  const auto chosen = [&](const std::vector<uint32_t>& sites) {
    const Decisions decisions = ChooseContents(rewrites, sites);
    EXPECT_EQ(decisions.otherwise, Otherwise::kDecline);
    return Accepted(decisions);
  };
  EXPECT_EQ(chosen({}), Keys{});
  EXPECT_EQ(chosen({0}), Keys{});
  EXPECT_EQ(chosen({0, 2}), Keys{1});
  EXPECT_EQ(chosen({3}), Keys{});  // a draw is no majority
  EXPECT_EQ(chosen({3, 4, 5}), (Keys{2, 3}));
  EXPECT_EQ(chosen({0, 1, 2, 3, 4, 5}), (Keys{1, 2, 3}));
}

TEST(KeyText, IsSixteenHexadecimalDigits) {
  EXPECT_EQ(KeyText(0), "0000000000000000");
  EXPECT_EQ(KeyText(0xabcull), "0000000000000abc");
  EXPECT_EQ(KeyText(~SiteKey{0}), "ffffffffffffffff");
}

}  // namespace
}  // namespace hone
