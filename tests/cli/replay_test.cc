// hone replay: the same bytes, or a message.
#include <gtest/gtest.h>

#include <filesystem>

#include "hone_process.h"
#include "tune/recipe.h"

namespace hone {
namespace {

class ReplayTest : public HoneTest {
 protected:
  ReplayTest() { Copy("small.hlo"); }

  // Of `hone run` with these passes on small.hlo, whose result is left in run.hlo.
  Recipe RecipeOf(const std::vector<std::string>& passes) {
    std::string list;
    for (const std::string& pass : passes) list += (list.empty() ? "" : ",") + pass;
    const auto before = Hone({"run", "small.hlo", "--passes", "", "--json"}).Json();
    const auto after =
        Hone({"run", "small.hlo", "--passes", list, "-o", "run.hlo", "--json"}).Json();
    Recipe recipe;
    recipe.hone_version = "0.1.0";
    recipe.xla_version = Hone({"passes", "--json"}).Json()["version"];
    recipe.program = {"small.hlo", "small", before["fingerprint"]};
    recipe.passes = passes;
    recipe.result_fingerprint = after["fingerprint"];
    recipe.objective = "op_count";
    return recipe;
  }
};

TEST_F(ReplayTest, SameBytes) {
  Write("recipe.json", RecipeToJson(RecipeOf({"algsimp", "dce"})));
  const Ran first = Hone({"replay", "recipe.json", "-o", "first.hlo"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(Read("first.hlo"), Read("run.hlo"));
  const Ran second = Hone({"replay", "recipe.json"});
  ASSERT_EQ(second.code, 0);
  EXPECT_EQ(second.out, Read("run.hlo"));
  const auto json = Hone({"replay", "recipe.json", "--json"}).Json();
  EXPECT_EQ(json["hlo"], Read("run.hlo"));
  EXPECT_EQ(json["initial"], 8);
  EXPECT_EQ(json["result"], 4);
}

TEST_F(ReplayTest, DecisionsAboutRewrites) {
  Write("unused.hlo",
        "HloModule unused\nENTRY e {\n  x = f32[4] parameter(0)\n  a = f32[4] negate(x)\n"
        "  b = f32[4] exponential(x)\n  ROOT y = f32[4] add(x, x)\n}\n");
  const Ran made = Hone({"rewrites", "unused.hlo", "--pass", "dce", "--apply", "0", "-o", "one.hlo",
                         "--recipe", "recipe.json"});
  ASSERT_EQ(made.code, 0) << made.err;
  const StatusOr<Recipe> recipe = RecipeFromJson(Read("recipe.json"));
  ASSERT_TRUE(recipe) << recipe.error().message;
  ASSERT_EQ(recipe->decisions.size(), 1u);
  const Ran ran = Hone({"replay", "recipe.json", "-o", "again.hlo", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["as_recorded"], true);
  EXPECT_EQ(Read("again.hlo"), Read("one.hlo"));
  // The whole pass removes both.
  Recipe whole = *recipe;
  whole.decisions.clear();
  whole.result_fingerprint = std::string(32, '0');
  Write("whole.json", RecipeToJson(whole));
  EXPECT_EQ(Hone({"replay", "whole.json", "-o", "all.hlo"}).code, 0);
  EXPECT_NE(Read("all.hlo"), Read("one.hlo"));
}

TEST_F(ReplayTest, FindsTheProgramBesideTheRecipeOrWhereItIsTold) {
  const Recipe recipe = RecipeOf({"dce"});
  Write("sub/recipe.json", RecipeToJson(recipe));
  std::filesystem::rename(Path("small.hlo"), Path("sub/small.hlo"));
  EXPECT_EQ(Hone({"replay", "sub/recipe.json", "-q"}).code, 0);
  std::filesystem::rename(Path("sub/small.hlo"), Path("moved.hlo"));
  EXPECT_EQ(Hone({"replay", "sub/recipe.json", "--program", "moved.hlo"}).code, 0);
  const Ran lost = Hone({"replay", "sub/recipe.json"});
  EXPECT_EQ(lost.code, 2);
  EXPECT_TRUE(IsOneMessage(lost.err));
  EXPECT_NE(lost.err.find("--program"), std::string::npos) << lost.err;
}

TEST_F(ReplayTest, AnotherProgram) {
  Write("recipe.json", RecipeToJson(RecipeOf({"dce"})));
  Copy("small_equal.hlo");
  const Ran ran = Hone({"replay", "recipe.json", "--program", "small_equal.hlo", "-o", "out.hlo"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(IsOneMessage(ran.err));
  EXPECT_NE(ran.err.find("not the recipe's program"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(Path("out.hlo")));
}

// What cannot be made again as recorded is as good where it computes the same.
TEST_F(ReplayTest, AnotherResultIsComparedAndSaid) {
  Recipe recipe = RecipeOf({"algsimp", "dce"});
  recipe.result_fingerprint = std::string(32, '0');
  Write("recipe.json", RecipeToJson(recipe));
  const Ran ran = Hone({"replay", "recipe.json", "-o", "out.hlo", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("warning: its passes end at another program than it says"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(ran.Json()["as_recorded"], false);
  EXPECT_EQ(Read("out.hlo"), Read("run.hlo"));
}

TEST_F(ReplayTest, AnotherResultThatCannotBeCompared) {
  Copy("elided.hlo");
  Recipe recipe = RecipeOf({"dce"});
  recipe.program = {"elided.hlo", "elided",
                    Hone({"run", "elided.hlo", "--passes", "", "--json"}).Json()["fingerprint"]};
  recipe.result_fingerprint = std::string(32, '0');
  Write("recipe.json", RecipeToJson(recipe));
  const Ran ran = Hone({"replay", "recipe.json", "-o", "out.hlo"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("ends at another program"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(Path("out.hlo")));
}

TEST_F(ReplayTest, AnotherXlaIsSaid) {
  Recipe recipe = RecipeOf({"dce"});
  recipe.xla_version = "tensorflow-cpu 9.99.0";
  Write("recipe.json", RecipeToJson(recipe));
  const Ran ran = Hone({"replay", "recipe.json", "-o", "out.hlo"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.err.find("warning: the recipe is of tensorflow-cpu 9.99.0"), std::string::npos)
      << ran.err;
}

TEST_F(ReplayTest, BrokenRecipes) {
  Recipe unknown = RecipeOf({"dce"});
  unknown.passes = {"dcee"};
  Write("unknown.json", RecipeToJson(unknown));
  Write("foreign.json", "{\"name\": \"something else\"}");
  Write("cut.json", RecipeToJson(unknown).substr(0, 100));
  Write("empty.json", "");
  Write("random.json", "\x80\x81\xfe\x01\x02 {");
  const auto expect = [&](const std::string& file, const std::string& part) {
    const std::vector<std::string> before = Listing();
    const Ran ran = Hone({"replay", file, "-o", "out.hlo"});
    EXPECT_EQ(ran.code, 2) << file;
    EXPECT_TRUE(IsOneMessage(ran.err));
    EXPECT_EQ(ran.err.rfind("hone: " + file + ": ", 0), 0u) << ran.err;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
    EXPECT_EQ(Listing(), before);
  };
  expect("unknown.json", "did you mean 'dce'?");
  expect("foreign.json", "no hone recipe");
  expect("cut.json", "not JSON");
  expect("empty.json", "the file is empty");
  expect("random.json", "not JSON");
  expect("small.hlo", "not JSON");
  expect("missing.json", "No such file");
}

}  // namespace
}  // namespace hone
