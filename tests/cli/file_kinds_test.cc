// Files that hone writes for itself to read again: those of versions before are read, those of a
// version to come are refused, the same way by every command.
#include "core/file_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone_process.h"
#include "loops/schedule.h"
#include "memory/plan_file.h"
#include "tune/plan.h"
#include "tune/recipe.h"
#include "tune/tune_plan.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class FileKindsTest : public HoneTest {
 protected:
  FileKindsTest() { Copy("small.hlo"); }

  // As a hone wrote it before files said their version, or said "format_version".
  static std::string Older(const std::string& name) {
    return std::string(TEST_DATA) + "/older/" + name;
  }
  static std::string OlderText(const std::string& name) {
    std::ifstream file(Older(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(FileKindsTest, EveryKindHasAWriterAndAName) {
  for (const FileKind* kind : kFileKinds) {
    EXPECT_LE(kind->oldest, kind->version) << kind->format;
    EXPECT_THAT(kind->writer, HasSubstr("hone ")) << kind->format;
  }
}

TEST_F(FileKindsTest, OlderTunedPlansAreRead) {
  const auto plan = tune::TunePlanFromJson(OlderText("tuned_plan.json"));
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->compile.choices.size(), 1u);
  EXPECT_EQ(plan->compile.choices[0].value, "naive");
  ASSERT_EQ(plan->compile.flags.size(), 1u);
  const Json written = Json::parse(tune::TunePlanToJson(*plan));
  EXPECT_EQ(written["version"], kTunedPlanFile.version);
  EXPECT_EQ(*tune::TunePlanFromJson(written.dump()), *plan);
}

TEST_F(FileKindsTest, OlderRewritePlansAreRead) {
  const auto plan = PlanFromJson(OlderText("plan.json"));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->pass, "algsimp");
  EXPECT_EQ(plan->decisions.choices.size(), 1u);
  EXPECT_EQ(*PlanFromJson(PlanToJson(*plan)), *plan);
  EXPECT_EQ(Hone({"rewrites", "small.hlo", "--pass", "algsimp", "--plan", Older("plan.json")}).code,
            0);
}

TEST_F(FileKindsTest, OlderRecipesAreReadAndReplayed) {
  for (const char* name : {"recipe_1.json", "recipe_2.json"}) {
    const auto recipe = RecipeFromJson(OlderText(name));
    ASSERT_TRUE(recipe) << recipe.error().message;
    const Json written = Json::parse(RecipeToJson(*recipe));
    EXPECT_EQ(written["version"], kRecipeFile.version);
    EXPECT_FALSE(written.contains("format_version"));
    const auto again = RecipeFromJson(written.dump());
    EXPECT_EQ(again->passes, recipe->passes);
    EXPECT_EQ(again->decisions, recipe->decisions);
    const Ran ran = Hone({"replay", Older(name), "--program", "small.hlo"});
    EXPECT_EQ(ran.code, 0) << ran.err;
  }
}

TEST_F(FileKindsTest, OlderMemoryPlansAreReadAndSimulated) {
  const auto header = memory::ReadPlanHeader(OlderText("memory_plan.json"));
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->machine.name, "generic");
  const Ran ran = Hone({"memory", "simulate", Older("memory_plan.json"), "--program", "small.hlo"});
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(FileKindsTest, OlderSchedulesAreRead) {
  const auto schedule = loops::ParseSchedule(OlderText("softmax.schedule"));
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_FALSE(schedule->empty());
  const std::string written = loops::ScheduleFile(*schedule);
  EXPECT_EQ(written.substr(0, written.find('\n')), "hone schedule 1");
  EXPECT_EQ(*loops::ParseSchedule(written), *schedule);
  EXPECT_EQ(loops::ParseSchedule(loops::ScheduleFile({}))->size(), 0u);
}

struct Reader {
  const FileKind* kind;
  const char* file;                // of older/
  std::vector<std::string> words;  // of hone; FILE is the file
};

// Exit 2 and one line: what, where, what to do.
TEST_F(FileKindsTest, NewerFilesAreRefused) {
  const Reader readers[] = {
      {&kTunedPlanFile, "tuned_plan.json", {"apply", "FILE", "small.hlo", "-o", "out.hlo"}},
      {&kTunedPlanFile, "tuned_plan.json", {"bench", "small.hlo", "--plan", "FILE"}},
      {&kTunedPlanFile, "tuned_plan.json", {"sites", "small.hlo", "--plan", "FILE"}},
      {&kRewritePlanFile,
       "plan.json",
       {"rewrites", "small.hlo", "--pass", "algsimp", "--plan", "FILE"}},
      {&kRecipeFile, "recipe_1.json", {"replay", "FILE"}},
      {&kRecipeFile, "recipe_2.json", {"replay", "FILE"}},
      {&kMemoryPlanFile, "memory_plan.json", {"memory", "simulate", "FILE"}},
      {&kScheduleFile,
       "softmax.schedule",
       {"loops", "race", Older("softmax.task"), "--schedule", "FILE"}}};
  for (const Reader& reader : readers) {
    std::string text = OlderText(reader.file);
    if (reader.kind == &kScheduleFile) {
      text = "hone schedule 99\n" + text;
    } else {
      Json json = Json::parse(text);
      json["version"] = 99;
      text = json.dump();
    }
    Write("newer", text);
    std::vector<std::string> words = reader.words;
    for (std::string& word : words) word = word == "FILE" ? "newer" : word;
    const Ran ran = Hone(words);
    EXPECT_EQ(ran.code, 2) << reader.words[0];
    EXPECT_THAT(ran.err, AllOf(HasSubstr("newer"), HasSubstr("version 99"),
                               HasSubstr("get a newer hone"), HasSubstr(reader.kind->writer)));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(FileKindsTest, AVersionIsAWholeNumberThatIsRead) {
  const auto message = [](const char* version) {
    return PlanFromJson("{\"format\": \"hone plan\", \"version\": " + std::string(version) +
                        ", \"pass\": \"dce\"}")
        .error()
        .message;
  };
  EXPECT_TRUE(PlanFromJson("{\"format\": \"hone plan\", \"version\": 1, \"pass\": \"dce\"}"));
  for (const char* wrong : {"\"1\"", "-1", "1.5", "null"}) {
    EXPECT_THAT(message(wrong), HasSubstr("no whole number")) << wrong;
  }
  EXPECT_THAT(message("0"), AllOf(HasSubstr("version 0"), HasSubstr("write it again")));
  EXPECT_THAT(loops::ParseSchedule("hone schedule one\n").error().message,
              HasSubstr("no whole number"));
  // A plan of another kind in the place of a schedule is named.
  EXPECT_THAT(loops::ParseSchedule(tune::TunePlanToJson({})).error().message,
              HasSubstr("it is a tuned plan"));
  EXPECT_THAT(RecipeFromJson(loops::ScheduleFile({})).error().message, HasSubstr("not JSON"));
  EXPECT_THAT(PlanFromJson(loops::ScheduleFile({})).error().message,
              HasSubstr("it is a schedule of loop nests"));
}

}  // namespace
}  // namespace hone
