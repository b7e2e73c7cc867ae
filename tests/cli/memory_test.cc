#include <gtest/gtest.h>

#include "hone_process.h"

namespace hone {
namespace {

class MemoryTest : public HoneTest {
 protected:
  MemoryTest() { Copy("small.hlo"); }
};

TEST_F(MemoryTest, PlansSimulatesAndReadsBack) {
  for (const std::string machine : {"generic", "neuroncore_v2"}) {
    const Ran ran =
        Hone({"memory", "small.hlo", "--machine", machine, "-o", "plan.json", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto json = ran.Json();
    EXPECT_EQ(json["file"], "small.hlo");
    EXPECT_EQ(json["machine"], machine);
    EXPECT_TRUE(json["verified"].is_boolean() && json["verified"].get<bool>()) << ran.out;
    EXPECT_LE(json["pairs_eliminated"], json["pairs"]);
    for (const char* way : {"operator", "local", "hone", "bound"}) {
      EXPECT_GT(json["dram_bytes"][way].get<int64_t>(), 0) << way;
    }
    EXPECT_GE(json["dram_bytes"]["hone"], json["dram_bytes"]["bound"]);
    EXPECT_LE(json["dram_bytes"]["hone"], json["dram_bytes"]["operator"]);
    for (const char* field : {"peak_scratchpad", "planning_seconds"}) {
      EXPECT_TRUE(json[field].is_number()) << field;
    }
    const Ran again = Hone({"memory", "simulate", "plan.json", "--json"});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(
        again.Json()["loaded_bytes"].get<int64_t>() + again.Json()["stored_bytes"].get<int64_t>(),
        json["dram_bytes"]["hone"].get<int64_t>());
  }
}

TEST_F(MemoryTest, APlanThatClaimsOtherTrafficIsFoundOut) {
  ASSERT_EQ(Hone({"memory", "small.hlo", "-o", "plan.json"}).code, 0);
  std::string plan = Read("plan.json");
  const std::string field = "\"loaded_bytes\":";
  const size_t at = plan.find(field);
  ASSERT_NE(at, plan.npos);
  plan.insert(at + field.size(), "1");
  Write("plan.json", plan);
  const Ran ran = Hone({"memory", "simulate", "plan.json"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("claims"), std::string::npos) << ran.out;
}

TEST_F(MemoryTest, SaysWhatIsWrong) {
  const auto bad = [&](const std::vector<std::string>& arguments, const std::string& what) {
    std::vector<std::string> all = {"memory"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = Hone(all);
    EXPECT_EQ(ran.code, 2) << what;
    EXPECT_NE(ran.err.find(what), std::string::npos) << ran.err;
  };
  bad({}, "give a program");
  bad({"nowhere.hlo"}, "nowhere.hlo");
  bad({"small.hlo", "--machine", "abacus"}, "there is no machine 'abacus'");
  bad({"simulate", "small.hlo"}, "not a plan");
  Write("machine.json", "{\"name\": \"m\"}");
  bad({"small.hlo", "--machine", "machine.json"}, "is missing");
}

TEST_F(MemoryTest, ListsMachines) {
  const Ran ran = Hone({"memory", "machines", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.Json()["machines"].size(), 5u);
}

}  // namespace
}  // namespace hone
