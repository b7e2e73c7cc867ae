// What `hone optimize` and `hone memory` keep in a store and begin with.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "hone_process.h"
#include "support/programs.h"

namespace hone {
namespace {

using Json = nlohmann::json;

class AnswersTest : public HoneTest {
 protected:
  AnswersTest() {
    Write("bert.hlo", testing::ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
    Copy("small.hlo");
  }

  // A store with what `from` has, changed.
  void ImportChanged(const std::string& from, const std::string& to,
                     const std::function<void(Json&)>& change) {
    std::istringstream lines(Hone({"store", "export", from}).out);
    std::string changed;
    for (std::string line; std::getline(lines, line);) {
      Json row = Json::parse(line);
      if (row["table"] == "answers") change(row);
      changed += row.dump() + "\n";
    }
    Write("changed.jsonl", changed);
    ASSERT_EQ(Hone({"store", "import", to, "changed.jsonl"}).code, 0);
  }
};

TEST_F(AnswersTest, AnOrderThatWasFoundIsBegunWith) {
  const auto optimize = [&](const std::string& store, const std::string& budget) {
    const Ran ran = Hone(
        {"optimize", "bert.hlo", "--budget", budget, "--inputs", "1", "--store", store, "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.Json();
  };
  const Json first = optimize("found.db", "300steps");
  EXPECT_FALSE(first.contains("stored"));
  ASSERT_LT(first["result"], first["default"]);
  const Json second = optimize("found.db", "1steps");
  EXPECT_EQ(second["stored"], first["result"]);
  EXPECT_LE(second["result"], first["result"]);
  EXPECT_EQ(second["verified"], true);
  EXPECT_LT(second["evaluated"], 50);

  const Json listed = Hone({"store", "ls", "found.db", "--json"}).Json();
  ASSERT_EQ(listed.size(), 1u) << listed;
  EXPECT_EQ(listed[0]["kind"], "order");
  EXPECT_EQ(listed[0]["question"], "op_count simplify");
  EXPECT_EQ(listed[0]["cost"], second["result"]);
  EXPECT_NE(Hone({"store", "ls", "found.db"}).out.find("op_count simplify"), std::string::npos);
  const std::string program = listed[0]["program"].get<std::string>().substr(0, 6);
  const Json shown = Hone({"store", "show", "found.db", program, "--json"}).Json();
  Write("recipe.json", shown[0]["recipe"].dump());
  EXPECT_EQ(Hone({"replay", "recipe.json", "-o", "again.hlo"}).code, 0);
  EXPECT_EQ(Hone({"stats", "again.hlo", "--json"}).Json()["instructions"], second["result"]);
  EXPECT_EQ(Hone({"store", "prune", "found.db"}).code, 0);
  EXPECT_EQ(Hone({"store", "ls", "found.db", "--json"}).Json(), listed);

  // One that promises what it does not keep neither spoils the result nor stays.
  ImportChanged("found.db", "boasting.db", [](Json& row) { row["cost"] = 1.0; });
  const Json third = optimize("boasting.db", "1steps");
  EXPECT_EQ(third["stored"], 1);
  EXPECT_EQ(third["result"], second["result"]);
  EXPECT_EQ(Hone({"store", "ls", "boasting.db", "--json"}).Json()[0]["cost"], third["result"]);
}

TEST_F(AnswersTest, WhatIsNotVerifiedIsNotKept) {
  ASSERT_EQ(
      Hone({"optimize", "bert.hlo", "--budget", "300steps", "--no-verify", "--store", "found.db"})
          .code,
      0);
  EXPECT_EQ(Hone({"store", "ls", "found.db", "--json"}).Json().size(), 0u);
}

TEST_F(AnswersTest, APlanOfMemoryIsBegunWithAndVerifiedAgain) {
  const auto plan = [&](const std::string& store) {
    const Ran ran = Hone(
        {"memory", "small.hlo", "--budget", "2s", "--store", store, "-o", "plan.json", "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.Json();
  };
  const Json first = plan("found.db");
  EXPECT_EQ(first["from_store"], false);
  const std::string file = Read("plan.json");
  const Json second = plan("found.db");
  EXPECT_EQ(second["from_store"], true);
  EXPECT_EQ(Read("plan.json"), file);
  for (const char* field :
       {"dram_bytes", "verified", "groups", "spilled_bytes", "pairs_eliminated", "copies_on_chip",
        "peak_scratchpad", "estimated_ms", "estimated_fastest"}) {
    EXPECT_EQ(second[field], first[field]) << field;
  }
  const Json listed = Hone({"store", "ls", "found.db", "--json"}).Json();
  ASSERT_EQ(listed.size(), 1u) << listed;
  EXPECT_EQ(listed[0]["kind"], "memory");
  EXPECT_EQ(listed[0]["machine"], "neuroncore_v2");
  EXPECT_EQ(listed[0]["cost"], first["dram_bytes"]["hone"]);
  EXPECT_NE(Hone({"store", "ls", "found.db"}).out.find("bytes on neuroncore_v2"),
            std::string::npos);

  // One that claims less than it moves is found out, and does not stay.
  ImportChanged("found.db", "boasting.db", [](Json& row) {
    Json text = Json::parse(row["text"].get<std::string>());
    text["figures"]["loaded_bytes"] = 1;
    row["text"] = text.dump();
    row["cost"] = 1.0;
  });
  const Json third = plan("boasting.db");
  EXPECT_EQ(third["from_store"], false);
  EXPECT_EQ(third["dram_bytes"], first["dram_bytes"]);
  EXPECT_EQ(Hone({"store", "ls", "boasting.db", "--json"}).Json()[0]["cost"],
            first["dram_bytes"]["hone"]);
  ImportChanged("found.db", "broken.db", [](Json& row) { row["text"] = "no plan"; });
  EXPECT_EQ(plan("broken.db")["from_store"], false);
  EXPECT_EQ(plan("broken.db")["from_store"], true);
}

TEST_F(AnswersTest, AStoreThatIsNoneIsRefusedBeforeAnythingIsDone) {
  Write("text.db", "this is no store, and long enough that SQLite can tell that it is none at all");
  for (const char* command : {"optimize", "memory"}) {
    const Ran ran = Hone({command, "small.hlo", "--store", "text.db"});
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
  }
}

// As --policy none, --cost-model none and --kernel-folder none are.
TEST_F(AnswersTest, NoneIsNoFile) {
  for (const char* store : {"none", "found.db"}) {
    const Ran ran = Hone({"memory", "small.hlo", "--budget", "1s", "--store", store, "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::vector<std::string> files = Listing();
    EXPECT_EQ(std::count(files.begin(), files.end(), store), store == std::string("found.db"));
  }
}

}  // namespace
}  // namespace hone
