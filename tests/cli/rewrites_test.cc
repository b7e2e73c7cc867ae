#include <gtest/gtest.h>

#include <set>

#include "hone_process.h"

namespace hone {
namespace {

// Of small.hlo, algsimp would have add(x, zeros) be x, and dce would remove `unused`.
class RewritesTest : public HoneTest {
 protected:
  RewritesTest() { Copy("small.hlo"); }

  int64_t Instructions(const std::string& file) {
    return Hone({"stats", file, "--json"}).Json()["instructions"].get<int64_t>();
  }
};

TEST_F(RewritesTest, ListsWhatAPassWouldDo) {
  const Ran ran = Hone({"rewrites", "small.hlo", "--pass", "algsimp", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = ran.Json();
  EXPECT_EQ(json["pass"], "algsimp");
  EXPECT_EQ(json["fingerprint"].get<std::string>().size(), 32u);
  EXPECT_TRUE(json["separable"].get<bool>());
  ASSERT_GE(json["sites"].size(), 1u) << ran.out;
  std::set<std::string> places;
  bool found = false;
  for (size_t i = 0; i < json["sites"].size(); ++i) {
    const auto& site = json["sites"][i];
    EXPECT_EQ(site["id"], i);
    for (const char* field : {"kind", "status", "opcode", "original", "replacement", "instruction",
                              "computation", "reason", "place", "content"}) {
      EXPECT_TRUE(site[field].is_string()) << field << " of " << site;
    }
    for (const char* field : {"delta_op_count", "delta_flops", "delta_bytes"}) {
      EXPECT_TRUE(site[field].is_number()) << field << " of " << site;
    }
    EXPECT_TRUE(places.insert(site["place"]).second) << "twice: " << site["place"];
    if (site["instruction"] != "sum") continue;
    found = true;
    EXPECT_EQ(site["kind"], "replace_instruction");
    EXPECT_EQ(site["status"], "ok");
    EXPECT_EQ(site["opcode"], "add");
    EXPECT_NE(site["original"].get<std::string>().find("add(x, zeros)"), std::string::npos);
    EXPECT_NE(site["replacement"].get<std::string>().find("parameter(0)"), std::string::npos);
    EXPECT_EQ(site["delta_op_count"], -3) << "the sum, and its zeros";
    EXPECT_LT(site["delta_flops"].get<double>(), 0);
  }
  EXPECT_TRUE(found) << ran.out;
  ASSERT_TRUE(json["conflicts"].is_array());
  for (const auto& pair : json["conflicts"]) {
    ASSERT_EQ(pair.size(), 2u);
    EXPECT_LT(pair[0].get<size_t>(), pair[1].get<size_t>());
    EXPECT_LT(pair[1].get<size_t>(), json["sites"].size());
  }
  for (const char* what : {"pass", "dry_run", "listing"}) {
    EXPECT_GE(json["seconds"][what].get<double>(), 0) << what;
  }
  const Ran table = Hone({"rewrites", "small.hlo", "--pass", "algsimp", "--texts"});
  EXPECT_EQ(table.code, 0);
  EXPECT_NE(table.out.find("replace_instruction"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("- sum = "), std::string::npos) << table.out;
}

TEST_F(RewritesTest, NoneLeavesTheProgramAndAllIsThePass) {
  for (const std::string pass : {"algsimp", "dce", "fusion"}) {
    const auto none = Hone({"rewrites", "small.hlo", "--pass", pass, "--apply", "none", "-o",
                            "none.hlo", "--json"})
                          .Json();
    EXPECT_FALSE(none["changed"].get<bool>()) << pass;
    EXPECT_EQ(none["fingerprint"], none["result_fingerprint"]);
    EXPECT_EQ(Instructions("none.hlo"), 8);
    const Ran all = Hone(
        {"rewrites", "small.hlo", "--pass", pass, "--apply", "all", "-o", "all.hlo", "--json"});
    ASSERT_EQ(all.code, 0) << all.err;
    ASSERT_EQ(Hone({"run", "small.hlo", "--passes", pass, "-o", "pass.hlo"}).code, 0);
    EXPECT_EQ(Read("all.hlo"), Read("pass.hlo")) << pass;
    EXPECT_EQ(all.Json()["op_count"], Instructions("all.hlo"));
  }
}

TEST_F(RewritesTest, MakesWhatIsChosenAndVerifiesIt) {
  const auto sites = Hone({"rewrites", "small.hlo", "--pass", "algsimp", "--json"}).Json()["sites"];
  std::string every;
  for (size_t i = 0; i < sites.size(); ++i) every += (i ? "," : "") + std::to_string(i);
  const Ran ran = Hone({"rewrites", "small.hlo", "--pass", "algsimp", "--apply", every, "--verify",
                        "-o", "some.hlo", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["verified"], "true") << ran.out;
  EXPECT_LT(Instructions("some.hlo"), 8);
  EXPECT_EQ(Hone({"check", "small.hlo", "some.hlo"}).code, 0);
}

// XLA:CPU's own pipeline takes no fusions.
TEST_F(RewritesTest, WhatIsFusedIsComparedAlsoAfterItsCompilation) {
  const Ran fused = Hone({"rewrites", "small.hlo", "--pass", "fusion", "--apply", "all", "--verify",
                          "-o", "fused.hlo", "--json"});
  ASSERT_EQ(fused.code, 0) << fused.err;
  EXPECT_EQ(fused.Json()["verified"], "true") << fused.out;
  EXPECT_NE(Read("fused.hlo").find(" fusion("), std::string::npos);
  EXPECT_EQ(Hone({"check", "small.hlo", "fused.hlo"}).code, 0);
  Write("plan.json", R"({"format": "hone tuned plan", "version": 1, "passes": [], "choices": {},
                         "flags": {}})");
  ASSERT_EQ(Hone({"apply", "plan.json", "small.hlo", "-o", "optimised.hlo"}).code, 0);
  EXPECT_NE(Read("optimised.hlo").find("is_scheduled=true"), std::string::npos);
  EXPECT_EQ(Hone({"check", "small.hlo", "optimised.hlo"}).code, 0);
}

// pad(broadcast(x)) -> broadcast(pad(smaller broadcast(x))): XLA makes the broadcast smaller where
// it is, and only then replaces the pad.
TEST_F(RewritesTest, WhatWasChangedInPlaceForADeclinedRewriteIsPutBack) {
  Write("pads.hlo", R"(
    HloModule pads
    ENTRY main {
      x = f32[37] parameter(0)
      zero = f32[] constant(0)
      wide = f32[4,37,8] broadcast(x), dimensions={1}
      low = f32[4,39,8] pad(wide, zero), padding=0_0x2_0x0_0
      ones = f32[] constant(3)
      all = f32[4,41,8] broadcast(ones), dimensions={}
      less = f32[4,39,8] pad(all, zero), padding=0_0x-1_-1x0_0
      ROOT sum = f32[4,39,8] add(low, less)
    })");
  const std::vector<std::string> base = {"rewrites", "pads.hlo", "--pass", "algsimp", "--json"};
  const auto listed = Hone(base).Json();
  EXPECT_TRUE(listed["separable"].get<bool>());
  ASSERT_EQ(listed["sites"].size(), 2u) << listed;
  for (const char* which : {"0", "1", "none", "all"}) {
    std::vector<std::string> arguments = base;
    for (const char* more : {"--apply", which, "--verify", "-o", "out.hlo"}) {
      arguments.push_back(more);
    }
    const Ran ran = Hone(arguments);
    ASSERT_EQ(ran.code, 0) << which << ran.err;
    EXPECT_EQ(ran.Json()["verified"], "true") << which << ran.out;
    EXPECT_EQ(ran.Json()["changed"], which != std::string("none"));
  }
}

TEST_F(RewritesTest, ADeclinedReplacementLeavesTheScheduleWhole) {
  Write("scheduled.hlo", R"(
    HloModule scheduled, is_scheduled=true
    ENTRY main {
      one = f32[] constant(1)
      x = f32[2,1,16] parameter(0)
      flat = f32[1,1,16] broadcast(one), dimensions={}
      again = f32[1,1,16] broadcast(flat), dimensions={0,1,2}
      less = f32[1,16] reshape(again)
      wide = f32[2,1,16] broadcast(less), dimensions={1,2}
      ROOT sum = f32[2,1,16] add(x, wide)
    })");
  for (const char* which : {"none", "half", "shrinking"}) {
    const Ran ran = Hone({"rewrites", "scheduled.hlo", "--pass", "algsimp", "--apply", which,
                          "--seed", "80", "-o", "out.hlo", "--json"});
    ASSERT_EQ(ran.code, 0) << which << ran.err;
    EXPECT_EQ(Hone({"stats", "out.hlo"}).code, 0) << Read("out.hlo");
  }
  EXPECT_TRUE(Hone({"rewrites", "scheduled.hlo", "--pass", "algsimp", "--json"})
                  .Json()["separable"]
                  .get<bool>());
}

TEST_F(RewritesTest, AfterOtherPasses) {
  const auto before = Hone({"rewrites", "small.hlo", "--pass", "dce", "--json"}).Json();
  ASSERT_EQ(before["sites"].size(), 1u);
  EXPECT_EQ(before["sites"][0]["instruction"], "unused");
  EXPECT_EQ(before["sites"][0]["kind"], "remove");
  const auto after =
      Hone({"rewrites", "small.hlo", "--pass", "dce", "--after", "dce", "--json"}).Json();
  EXPECT_EQ(after["sites"].size(), 0u);
  EXPECT_NE(after["fingerprint"], before["fingerprint"]);
}

TEST_F(RewritesTest, APlanIsFollowedHereAndElsewhere) {
  const std::vector<std::string> base = {"rewrites", "small.hlo", "--pass", "algsimp"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = base;
    all.insert(all.end(), more.begin(), more.end());
    return Hone(all);
  };
  const Ran first = with({"--apply", "0", "-o", "first.hlo", "--plan-out", "plan.json", "--json"});
  ASSERT_EQ(first.code, 0) << first.err;
  const auto plan = nlohmann::json::parse(Read("plan.json"));
  EXPECT_EQ(plan["format"], "hone plan");
  EXPECT_EQ(plan["pass"], "algsimp");
  EXPECT_EQ(plan["otherwise"], "decline");
  EXPECT_EQ(plan["choices"].size(), 1u);
  const Ran again = with({"--plan", "plan.json", "-o", "again.hlo", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(Read("again.hlo"), Read("first.hlo"));
  EXPECT_EQ(again.Json()["result_fingerprint"], first.Json()["result_fingerprint"]);
  // The same by content, on a program with other names.
  std::string renamed = Read("small.hlo");
  for (size_t at; (at = renamed.find("sum")) != std::string::npos;) renamed.replace(at, 3, "plus");
  Write("renamed.hlo", renamed);
  const Ran other =
      Hone({"rewrites", "renamed.hlo", "--pass", "algsimp", "--plan", "plan.json", "--json"});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(other.Json()["result_fingerprint"], first.Json()["result_fingerprint"]);
  // For another pass it is refused, and so is what is no plan.
  const Ran pass = Hone({"rewrites", "small.hlo", "--pass", "dce", "--plan", "plan.json"});
  EXPECT_EQ(pass.code, 2);
  EXPECT_NE(pass.err.find("the plan is for pass 'algsimp'"), std::string::npos) << pass.err;
  Write("broken.json", "{\"format\": \"hone plan\"}");
  const Ran broken = with({"--plan", "broken.json"});
  EXPECT_EQ(broken.code, 2);
  EXPECT_TRUE(IsOneMessage(broken.err));
  EXPECT_NE(broken.err.find("'pass'"), std::string::npos) << broken.err;
  EXPECT_EQ(with({"--plan", "plan.json", "--apply", "all"}).code, 2);
}

TEST_F(RewritesTest, RulesOfOnesOwn) {
  Write("halves.hlo", R"(HloModule halves
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  h = f32[] constant(0.5)
  hs = f32[8] broadcast(h), dimensions={}
  a = f32[8] multiply(x, hs)
  b = f32[8] multiply(y, hs)
  ROOT r = f32[8] add(a, b)
})");
  Write("mine.rules", R"(rule average_of_two {
  meaning "x/2 + y/2 = (x + y)/2"
  pattern { add(multiply(x, 0.5), multiply(y, 0.5)) }
  replacement { multiply(add(x, y), 0.5) }
})");
  const Ran mine = Hone({"rewrites", "halves.hlo", "--pass", "rule:average_of_two", "--rules",
                         "mine.rules", "--json"});
  ASSERT_EQ(mine.code, 0) << mine.err;
  EXPECT_EQ(mine.Json()["sites"].size(), 1u);
  EXPECT_EQ(Hone({"rewrites", "halves.hlo", "--pass", "rule:average_of_two"}).code, 2)
      << "without the file there is no such pass";
  Write("wrong.rules", "rule average_of_two {\n  meaning 7\n}");
  const Ran wrong = Hone({"rewrites", "halves.hlo", "--pass", "rules", "--rules", "wrong.rules"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("wrong.rules:2"), std::string::npos) << wrong.err;
  EXPECT_EQ(wrong.err.find("does not start"), std::string::npos) << wrong.err;
  EXPECT_EQ(Hone({"rewrites", "halves.hlo", "--pass", "rules", "--rules", "none.rules"}).code, 2);
}

TEST_F(RewritesTest, SaysWhatIsWrong) {
  const std::vector<std::string> listing = Listing();
  const auto bad = [&](const std::vector<std::string>& arguments, const std::string& what) {
    std::vector<std::string> all = {"rewrites"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = Hone(all);
    EXPECT_EQ(ran.code, 2) << what;
    EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
    EXPECT_NE(ran.err.find(what), std::string::npos) << ran.err;
    EXPECT_EQ(Listing(), listing) << "nothing is written";
  };
  bad({"small.hlo", "--pass", "algsmp"}, "did you mean");
  bad({"small.hlo", "--pass", "algsimp", "--apply", "99", "-o", "o.hlo"}, "there is no site 99");
  bad({"small.hlo", "--pass", "algsimp", "--apply", "0,x", "-o", "o.hlo"}, "'x'");
  bad({"small.hlo", "--pass", "algsimp", "--after", "dcee"}, "did you mean");
  bad({"nowhere.hlo", "--pass", "algsimp"}, "nowhere.hlo");
  bad({"small.hlo", "--pass", "algsimp", "--apply", "all", "-o", "no/such/o.hlo"}, "no/such");
  EXPECT_EQ(Hone({"rewrites", "small.hlo"}).code, 2);
}

}  // namespace
}  // namespace hone
