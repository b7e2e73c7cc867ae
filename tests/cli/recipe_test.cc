#include "tune/recipe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

namespace hone {
namespace {

using Json = nlohmann::json;

Recipe Example() {
  Recipe recipe;
  recipe.hone_version = "0.1.0";
  recipe.xla_version = "tensorflow-cpu 2.21.0";
  recipe.program = {"models/a \"b\".hlo", "jit_f", "0123456789abcdef0123456789abcdef"};
  recipe.passes = {"algsimp", "gather_expander:eliminate_simple", "dce"};
  recipe.result_fingerprint = "fedcba9876543210fedcba9876543210";
  recipe.objective = "flops";
  recipe.initial_value = 2.5e20;
  recipe.default_value = 100;
  recipe.result_value = 90.5;
  recipe.seed = std::numeric_limits<uint64_t>::max();
  recipe.flags = {{"actions", "all"}, {"budget", "30s"}};
  recipe.verification = {"true", "ran both", 3, 0.25};
  return recipe;
}

TEST(Recipe, TextAndBack) {
  const std::string text = RecipeToJson(Example());
  const StatusOr<Recipe> read = RecipeFromJson(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(RecipeToJson(*read), text);
  EXPECT_EQ(read->program.file, Example().program.file);
  EXPECT_EQ(read->passes, Example().passes);
  EXPECT_EQ(read->seed, Example().seed);
  EXPECT_EQ(read->initial_value, Example().initial_value);
  EXPECT_EQ(read->result_value, Example().result_value);
  EXPECT_EQ(read->flags, Example().flags);
  EXPECT_EQ(read->verification.inputs, 3);
}

TEST(Recipe, DecisionsAreWrittenAndRead) {
  Recipe recipe = Example();
  recipe.decisions.resize(3);
  recipe.decisions[1] = {Otherwise::kHalf, 7, {{1, true}, {~SiteKey{0}, false}}};
  const std::string text = RecipeToJson(recipe);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["passes"][0], "algsimp");
  EXPECT_EQ(json["passes"][1]["pass"], "gather_expander:eliminate_simple");
  EXPECT_EQ(json["version"], 2) << "what versions before cannot replay, they are not to read";
  const StatusOr<Recipe> read = RecipeFromJson(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->passes, recipe.passes);
  EXPECT_EQ(read->decisions, recipe.decisions);
  EXPECT_EQ(RecipeToJson(*read), text);
}

TEST(Recipe, WithoutDecisionsItHasNamesOfPassesAlone) {
  Recipe recipe = Example();
  const std::string text = RecipeToJson(recipe);
  EXPECT_EQ(Json::parse(text)["passes"], Json(recipe.passes));
  recipe.decisions.resize(3);  // each the pass as it is
  EXPECT_EQ(RecipeToJson(recipe), text);
  EXPECT_TRUE(RecipeFromJson(text)->decisions.empty());
}

TEST(Recipe, NumbersThatJsonLacks) {
  Recipe recipe = Example();
  recipe.verification.worst_error = std::numeric_limits<double>::infinity();
  const StatusOr<Recipe> read = RecipeFromJson(RecipeToJson(recipe));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(std::isinf(read->verification.worst_error));
}

// Breaks the example and returns the message, "" where it was read all the same.
std::string MessageAfter(const std::function<void(Json&)>& change) {
  Json json = Json::parse(RecipeToJson(Example()));
  change(json);
  const StatusOr<Recipe> read = RecipeFromJson(json.dump());
  if (read) return "";
  EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput);
  return read.error().message;
}

TEST(Recipe, EveryFieldIsNeededAndNamed) {
  const Json whole = Json::parse(RecipeToJson(Example()));
  for (const auto& [name, value] : whole.items()) {
    const std::string field = name;
    EXPECT_NE(MessageAfter([&](Json& json) { json.erase(field); }).find("'" + field + "'"),
              std::string::npos)
        << field;
    EXPECT_NE(MessageAfter([&](Json& json) { json[field] = true; }).find("'" + field + "'"),
              std::string::npos)
        << field;
  }
  for (const auto& [name, value] : whole["program"].items()) {
    const std::string field = name;
    EXPECT_NE(MessageAfter([&](Json& json) {
                json["program"].erase(field);
              }).find("'program." + field + "'"),
              std::string::npos)
        << field;
  }
}

TEST(Recipe, WrongValuesAreNamed) {
  EXPECT_NE(MessageAfter([](Json& json) { json["passes"][1] = 7; }).find("'passes[1]'"),
            std::string::npos);
  const auto with = [](const Json& pass) {
    return MessageAfter([&](Json& json) { json["passes"][2] = pass; });
  };
  EXPECT_NE(with({{"seed", 1}}).find("'passes[2].pass'"), std::string::npos);
  EXPECT_NE(with({{"pass", "dce"}, {"otherwise", "?"}}).find("'passes[2].otherwise'"),
            std::string::npos);
  EXPECT_NE(with({{"pass", "dce"}, {"choices", {{"x", true}}}}).find("'passes[2].choices'"),
            std::string::npos);
  EXPECT_NE(MessageAfter([](Json& json) { json["seed"] = -1; }).find("'seed'"), std::string::npos);
  EXPECT_NE(MessageAfter([](Json& json) { json["objective"] = "joy"; }).find("'objective'"),
            std::string::npos);
  EXPECT_NE(MessageAfter([](Json& json) {
              json["result_fingerprint"] = "xyz";
            }).find("'result_fingerprint'"),
            std::string::npos);
  EXPECT_NE(MessageAfter([](Json& json) { json["version"] = 3; }).find("version 3"),
            std::string::npos);
}

TEST(Recipe, ForeignTexts) {
  for (const char* text : {"", "{", "hello", "\xff\xfe", "[1, 2]", "3", "{}", "{\"format\": 1}",
                           "{\"passes\": []}", "null"}) {
    const StatusOr<Recipe> read = RecipeFromJson(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput);
  }
}

TEST(Recipe, PassNames) {
  std::vector<PassInfo> passes(2);
  passes[0].name = "algsimp";
  passes[1].name = "dce";
  EXPECT_EQ(*FindPass(passes, "dce"), 1);
  const auto found = FindPasses(passes, {"dce", "algsmip"});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("did you mean 'algsimp'?"), std::string::npos);
  // A plan made with --target may have a pass that XLA:GPU alone has.
  const auto unlike = FindPass(passes, "computation-deduplicator");
  ASSERT_FALSE(unlike);
  EXPECT_NE(unlike.error().message.find("with --target those of XLA:GPU"), std::string::npos)
      << unlike.error().message;
  const auto gone = FindPass(passes, "saturate:bytes");
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("version 0.1's pass 'saturate:bytes' is gone"), std::string::npos);
}

}  // namespace
}  // namespace hone
