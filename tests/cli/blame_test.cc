// hone blame: what is known to do it is named; bad input is told.
#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

class BlameCommand : public HoneTest {
 protected:
  BlameCommand() {
    Write("values.hlo",
          "HloModule values\n\nENTRY main {\n  p = f32[8,64] parameter(0)\n"
          "  q = f32[8,64] parameter(1)\n  bent = f32[8,64] tanh(p)\n"
          "  clamped = f32[8,64] maximum(bent, q)\n  both = f32[8,64] add(clamped, bent)\n"
          "  ROOT out = f32[8,64] exponential(both)\n}\n");
    Write("wrong.rules",
          "rule wrong_maximum {\n  meaning \"the larger one is the smaller one\"\n  gain 0\n"
          "  on_demand\n  pattern { maximum(a, b) }\n  replacement { minimum(a, b) }\n}\n");
    Write("plan.json",
          "{\"format\": \"hone tuned plan\", \"passes\": [\"algsimp\", \"rule:wrong_maximum\", "
          "\"cse\"], "
          "\"choices\": {}, \"flags\": {\"xla_cpu_multi_thread_eigen\": \"false\"}}");
    Write("fine.json",
          "{\"format\": \"hone tuned plan\", \"passes\": [\"algsimp\", \"cse\"], \"choices\": {}, "
          "\"flags\": {}}");
  }
};

TEST_F(BlameCommand, NamesARewriteAndWritesAReport) {
  const Ran ran = Hone({"blame", "values.hlo", "--stock", "--plan", "plan.json", "--rules",
                        "wrong.rules", "--question", "different", "-o", "blamed", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const auto json = ran.Json();
  EXPECT_EQ(json["differences"], 4);
  ASSERT_EQ(json["answers"].size(), 1u);
  const auto& answer = json["answers"][0];
  EXPECT_EQ(answer["question"], "different");
  EXPECT_TRUE(answer["settled"].get<bool>());
  ASSERT_EQ(answer["causes"].size(), 1u);
  const auto& cause = answer["causes"][0];
  ASSERT_EQ(cause["decisions"].size(), 1u);
  EXPECT_EQ(cause["decisions"][0]["name"], "rule:wrong_maximum");
  EXPECT_EQ(cause["decisions"][0]["instruction"], "clamped");
  EXPECT_EQ(cause["first_difference"]["instruction"], "clamped");
  EXPECT_LE(cause["reduced"]["instructions"].get<int>(), 30);
  EXPECT_NE(Read("blamed/different-1.md").find("wrong_maximum"), std::string::npos);
  EXPECT_NE(Read("blamed/different-1.md").find("--rules wrong.rules"), std::string::npos);
  EXPECT_EQ(Read("blamed/different-1.hlo"), cause["reduced"]["hlo"].get<std::string>());
  // The small program against what the pass makes of it.
  EXPECT_EQ(Hone({"check", "blamed/different-1.hlo", "blamed/different-1.after.hlo"}).code, 1);
  const Ran again =
      Hone({"blame", "blamed/different-1.hlo", "--plan", "blamed/different-1.plan.json", "--rules",
            "wrong.rules", "--question", "different"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_NE(again.out.find("rule:wrong_maximum"), std::string::npos) << again.out;
}

TEST_F(BlameCommand, AccusesNobodyOfNothing) {
  const Ran same = Hone({"blame", "values.hlo", "--plan", "fine.json", "--question", "different"});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_NE(same.out.find("different: no; they compute the same"), std::string::npos) << same.out;
  // The flag does nothing for this program, so there is nothing to race.
  const Ran slower =
      Hone({"blame", "values.hlo", "--flags-b", "--xla_disable_hlo_passes=topk-rewriter",
            "--question", "slower", "--json"});
  EXPECT_EQ(slower.code, 0) << slower.out << slower.err;
  EXPECT_TRUE(slower.Json()["answers"][0]["b_against_a"]["same_executable"].get<bool>());
  EXPECT_TRUE(slower.Json()["answers"][0]["causes"].empty());
}

TEST_F(BlameCommand, TwoProgramsAreHeldAgainstEachOther) {
  const std::string values = Read("values.hlo");
  std::string other = values;
  other.replace(other.find("exponential"), std::string("exponential").size(), "sine");
  Write("other.hlo", other);
  Write("named.hlo", "HloModule named" + values.substr(values.find('\n')));
  const Ran same = Hone({"blame", "values.hlo", "named.hlo", "--json"});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  const auto answers = same.Json()["answers"];
  ASSERT_EQ(answers.size(), 2u);
  for (const auto& answer : answers) {
    EXPECT_EQ(answer["b_against_a"]["shows"], "no");
  }
  const Ran differs = Hone({"blame", "values.hlo", "other.hlo", "--question", "different"});
  EXPECT_EQ(differs.code, 4) << differs.out << differs.err;
  EXPECT_NE(differs.out.find("1 of 1 outputs differ"), std::string::npos) << differs.out;
  // More to do.
  Write("few.hlo",
        "HloModule few\n\nENTRY main {\n  x = f32[256,256] parameter(0)\n"
        "  ROOT t = f32[256,256] tanh(x)\n}\n");
  Write("more.hlo",
        "HloModule more\n\nENTRY main {\n  x = f32[256,256] parameter(0)\n"
        "  d = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  e = f32[256,256] dot(d, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  ROOT t = f32[256,256] tanh(e)\n}\n");
  const Ran slower = Hone({"blame", "few.hlo", "more.hlo", "--question", "slower", "--json"});
  EXPECT_EQ(slower.code, 4) << slower.out << slower.err;
  const auto answer = slower.Json()["answers"][0];
  SCOPED_TRACE(answer.dump());
  // What does more takes longer, unless the machine is so busy that nothing can be told.
  const std::string shows = answer["b_against_a"]["shows"];
  EXPECT_NE(shows, "no");
  EXPECT_FALSE(answer["b_against_a"]["same_executable"].get<bool>());
  EXPECT_EQ(answer["kernels"].empty(), shows != "yes");
}

TEST_F(BlameCommand, BadInputIsTold) {
  Write("broken.json", "{\"format\": \"hone tuned plan\", \"flagz\": {}}");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"values.hlo"}, "nothing to hold against the stock compiler"},
      {{"values.hlo", "--plan", "missing.json"}, "missing.json"},
      {{"values.hlo", "--plan", "broken.json"}, "flagz"},
      {{"missing.hlo", "--plan", "fine.json"}, "missing.hlo"},
      {{"values.hlo", "--flags-b", "-O3"}, "'-O3'"},
      {{"values.hlo", "--flags-b", "--xla_no_such_flag=1"}, "xla_no_such_flag"},
      {{"values.hlo", "--plan", "plan.json"}, "rule:wrong_maximum"},
      {{"values.hlo", "--plan", "fine.json", "--question", "odd"}, "--question"},
      {{"values.hlo", "--plan", "fine.json", "--least", "0.5"}, "--least"},
      {{"values.hlo", "values.hlo", "--plan", "fine.json"}, "with one only"},
      {{"values.hlo", "missing.hlo"}, "missing.hlo"},
  };
  for (const auto& [arguments, said] : cases) {
    std::vector<std::string> all = {"blame"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = Hone(all);
    EXPECT_EQ(ran.code, 2) << said << ran.out << ran.err;
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
    EXPECT_TRUE(IsOneMessage(ran.err));
  }
}

}  // namespace
}  // namespace hone
