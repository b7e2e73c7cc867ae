// hone tune, apply, bench and store as a user runs them.
#include <gtest/gtest.h>

#include <vector>

#include "hone_process.h"

namespace hone {
namespace {

class TuneTest : public HoneTest {
 protected:
  TuneTest() {
    Copy("small.hlo");
    // A transpose that is dear to fuse, a reduction and some elementwise work.
    Write("work.hlo", R"(HloModule work

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[512,256]{1,0} parameter(0)
  y = f32[256,512]{1,0} parameter(1)
  turned = f32[256,512]{1,0} transpose(x), dimensions={1,0}
  both = f32[256,512]{1,0} add(turned, y)
  wave = f32[256,512]{1,0} tanh(both)
  zero = f32[] constant(0)
  ROOT sums = f32[256]{0} reduce(wave, zero), dimensions={1}, to_apply=add
}
)");
  }
};

// As it was called before, for scripts.
TEST_F(TuneTest, TheSearchersOldNameIsTakenWithANoteAndShownNowhere) {
  const Ran ran = Hone({"tune", "small.hlo", "--strategy", "random", "--stages", "flags",
                        "--budget", "1steps", "--no-verify", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("warning: --strategy is called --search now"), std::string::npos)
      << ran.err;
  const Ran wrong = Hone({"tune", "small.hlo", "--strategy=nothing"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--search: nothing not in"), std::string::npos) << wrong.err;
  const std::string help = Hone({"tune", "--help"}).out;
  EXPECT_NE(help.find("--search"), std::string::npos);
  EXPECT_EQ(help.find("--strategy"), std::string::npos);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string completion = Hone({"completion", shell}).out;
    EXPECT_EQ(completion.find("strategy"), std::string::npos) << shell;
  }
}

TEST_F(TuneTest, BadInputIsToldAtOnce) {
  Write("broken.json", "{\"format\": \"hone tuned plan\", \"flags\": 3}");
  Write("text.db", "this is no store, and long enough that SQLite can tell that it is none at all");
  const std::vector<std::vector<std::string>> calls = {
      {"tune"},
      {"tune", "missing.hlo"},
      {"tune", "small.hlo", "--stages", "layout,nothing"},
      {"tune", "small.hlo", "--stages", ""},
      {"tune", "small.hlo", "--search", "nothing"},
      {"tune", "small.hlo", "--mode", "nothing"},
      {"tune", "small.hlo", "--cost-model", "missing.safetensors"},
      {"tune", "small.hlo", "--cost-model", "small.hlo"},
      {"tune", "small.hlo", "--policy", "missing.json"},
      {"tune", "small.hlo", "--policy", "broken.json"},
      {"costmodel"},
      {"costmodel", "train", "--store", "missing.db", "-o", "model"},
      {"costmodel", "train", "--store", "text.db", "-o", "model"},
      {"costmodel", "train", "--store", "text.db", "-o", "no/such/folder/model"},
      {"costmodel", "eval", "--store", "missing.db"},
      {"tune", "small.hlo", "--budget", "soon"},
      {"tune", "small.hlo", "--workers", "0"},
      {"tune", "small.hlo", "--workers", "many"},
      {"tune", "small.hlo", "--workers", "ray:"},
      {"tune", "small.hlo", "--workers", "ray:auto,none"},
      {"tune", "small.hlo", "--workers", "ray:auto", "--python", "no/such/python"},
      {"tune", "small.hlo", "--workers", "ray:auto", "--python", "true"},
      {"tune", "small.hlo", "--kind", "tpu"},
      {"tune", "small.hlo", "--target", "h100", "--tasks"},
      {"tune", "small.hlo", "--target", "h100", "--report", "report.html"},
      {"tune", "small.hlo", "--target", "h100", "--cost-model", "roofline"},
      {"tune", "small.hlo", "--target", "h100", "--device", "pjrt:plugin.so"},
      {"tune", "small.hlo", "--store", "text.db"},
      {"tune", "small.hlo", "--plan", "no/such/folder/plan.json"},
      {"apply", "missing.json", "small.hlo", "-o", "out.hlo"},
      {"apply", "broken.json", "small.hlo", "-o", "out.hlo"},
      {"apply", "small.hlo", "small.hlo", "-o", "out.hlo"},
      {"bench", "missing.hlo"},
      {"bench", "small.hlo", "--plan", "broken.json"},
      {"store"},
      {"store", "ls"},
      {"store", "ls", "missing.db"},
      {"store", "ls", "text.db"},
      {"store", "show", "missing.db", "3f"},
      {"store", "learn", "missing.db", "-o", "changes.json"},
      {"store", "learn", "text.db", "-o", "changes.json"},
      {"store", "import", "new.db", "missing.jsonl"},
      {"store", "import", "new.db", "broken.json"},
  };
  for (const std::vector<std::string>& call : calls) {
    std::string what;
    for (const std::string& word : call) what += word + " ";
    const Ran ran = Hone(call);
    EXPECT_EQ(ran.code, 2) << what << ran.err;
    EXPECT_FALSE(ran.err.empty()) << what;
    EXPECT_EQ(ran.err.find("terminate"), std::string::npos) << ran.err;
  }
  const std::vector<std::string> listing = Listing();
  for (const std::string& name : listing) EXPECT_NE(name, "out.hlo");
}

TEST_F(TuneTest, TheEmptyPlanIsTheStockCompiler) {
  Write("empty.json", "{\"format\": \"hone tuned plan\"}");
  const Ran ran = Hone({"apply", "empty.json", "work.hlo", "-o", "stock.hlo", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["applied"], 0);
  EXPECT_NE(Read("stock.hlo").find("HloModule"), std::string::npos);
  const Ran bench = Hone({"bench", "work.hlo", "--plan", "empty.json", "--json"});
  ASSERT_EQ(bench.code, 0) << bench.err;
  EXPECT_TRUE(bench.Json()["same_executable"].get<bool>());
  EXPECT_FALSE(bench.Json().contains("kernels"));
  EXPECT_GT(bench.Json()["stock_ms"].get<double>(), 0);
  EXPECT_GE(bench.Json()["runs"].get<int>(), 20);
  const Ran traced =
      Hone({"bench", "work.hlo", "--plan", "empty.json", "--kernels", "3", "--json"});
  ASSERT_EQ(traced.code, 0) << traced.err;
  const auto kernels = traced.Json()["kernels"];
  ASSERT_FALSE(kernels["stock"].empty());
  EXPECT_LE(kernels["stock"].size(), 3u);
  EXPECT_GT(kernels["stock"][0]["ms"].get<double>(), 0);
  EXPECT_TRUE(kernels["plan"].empty()) << "it is the same executable";
  EXPECT_EQ(bench.Json()["speedup"], 1);
}

TEST_F(TuneTest, FromAProgramToAPlanAndBack) {
  const Ran ran = Hone({"tune", "work.hlo", "--budget", "15s", "--store", "tuned.db", "--plan",
                        "plan.json", "-o", "optimised.hlo", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err << ran.out;
  const auto json = ran.Json();
  for (const char* field : {"file", "stock_ms", "tuned_ms", "speedup", "speedup_ci", "verified",
                            "evaluations", "seconds", "plan", "kept"}) {
    EXPECT_TRUE(json.contains(field)) << field << ": " << ran.out;
  }
  EXPECT_GT(json["stock_ms"].get<double>(), 0);
  EXPECT_GT(json["evaluations"].get<int>(), 0);
  EXPECT_LT(json["seconds"].get<double>(), 60);
  EXPECT_GT(json["busy_share"].get<double>(), 0.8);
  ASSERT_EQ(json["speedup_ci"].size(), 2u);
  if (json["kept"] == "tuned") {
    EXPECT_EQ(json["verified"], true);
    EXPECT_GT(json["speedup_ci"][0].get<double>(), 1);
  } else {
    EXPECT_EQ(json["kept"], "stock");
    EXPECT_EQ(json["speedup"], 1);
    EXPECT_FALSE(json["reason"].get<std::string>().empty());
  }
  EXPECT_EQ(nlohmann::json::parse(Read("plan.json")), json["plan"]);
  const Ran applied = Hone({"apply", "plan.json", "work.hlo", "-o", "again.hlo"});
  ASSERT_EQ(applied.code, 0) << applied.err;
  EXPECT_EQ(Read("again.hlo"), Read("optimised.hlo"));

  const Ran listed = Hone({"store", "ls", "tuned.db", "--json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  ASSERT_EQ(listed.Json().size(), 1u);
  EXPECT_EQ(listed.Json()[0]["kept"], json["kept"]);
  EXPECT_GT(listed.Json()[0]["measurements"].get<int>(), 0);
  const std::string program = listed.Json()[0]["program"];
  EXPECT_EQ(Hone({"store", "show", "tuned.db", program.substr(0, 6)}).code, 0);
  EXPECT_EQ(Hone({"store", "show", "tuned.db", "zz"}).code, 2);
  ASSERT_EQ(Hone({"store", "export", "tuned.db", "-o", "lines.jsonl"}).code, 0);
  ASSERT_EQ(Hone({"store", "import", "other.db", "lines.jsonl"}).code, 0);
  EXPECT_EQ(Hone({"store", "export", "other.db"}).out, Read("lines.jsonl"));
  EXPECT_EQ(Hone({"store", "prune", "other.db"}).code, 0);
  if (json["races"].get<int>() == 0) return;  // there is nothing to learn from
  // Two plans of one program may or may not differ in one change.
  const Ran learnt = Hone({"store", "learn", "tuned.db", "-o", "changes.json", "--json"});
  if (learnt.code == 0) {
    EXPECT_EQ(learnt.Json()["programs"], 1);
    EXPECT_GT(learnt.Json()["changes"].get<int>(), 0);
    for (const char* policy : {"changes.json", "none"}) {
      const Ran again = Hone({"tune", "work.hlo", "--budget", "5s,4steps", "--stages", "flags",
                              "--policy", policy, "--json"});
      EXPECT_EQ(again.code, 0) << again.err;
    }
  } else {
    EXPECT_EQ(learnt.code, 2) << learnt.err;
    EXPECT_NE(learnt.err.find("differ in one change"), std::string::npos) << learnt.err;
  }
  const Ran trained =
      Hone({"costmodel", "train", "--store", "tuned.db", "-o", "cost.safetensors", "--steps", "5"});
  EXPECT_EQ(trained.code, 0) << trained.err;
  const Ran ranked = Hone({"tune", "work.hlo", "--budget", "5s,4steps", "--stages", "flags",
                           "--cost-model", "cost.safetensors", "--json"});
  EXPECT_EQ(ranked.code, 0) << ranked.err;
  EXPECT_TRUE(ranked.Json().contains("passed_over"));
  const Ran judged =
      Hone({"costmodel", "eval", "--store", "tuned.db", "--model", "cost.safetensors"});
  EXPECT_EQ(judged.code, 2) << "its only program was trained on";
}

TEST_F(TuneTest, AFreeEntryIsDecidedToo) {
  std::vector<int> variables;
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--free-entry"}}) {
    std::vector<std::string> arguments = {"tune",     "work.hlo", "--budget", "5s,2steps",
                                          "--stages", "layout",   "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = Hone(arguments);
    ASSERT_EQ(ran.code, 0) << ran.err;
    variables.push_back(ran.Json()["variables"]);
  }
  EXPECT_EQ(variables[1], variables[0] + 2) << "x and y; the result has one dimension";
}

TEST_F(TuneTest, SeveralFilesHaveASummary) {
  const Ran ran = Hone({"tune", "small.hlo", "work.hlo", "--budget", "5s,4steps", "--stages",
                        "flags", "--cost-model", "roofline", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["results"].size(), 2u);
  EXPECT_GE(ran.Json()["summary"]["mean_speedup"].get<double>(), 1);
}

TEST_F(TuneTest, AnInterruptStillAnswers) {
  const Ran ran = RunProcess({HONE_BINARY, "tune", "work.hlo", "--budget", "10m", "--json"},
                             folder(), "evaluations");
  EXPECT_EQ(ran.code, 130) << ran.err;
  EXPECT_EQ(ran.Json()["stop_reason"], "interrupted") << ran.out;
}

}  // namespace
}  // namespace hone
