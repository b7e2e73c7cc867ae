#include "memory/machine.h"

#include <gtest/gtest.h>

namespace hone::memory {
namespace {

constexpr const char* kGood =
    R"({"name": "m", "bytes_per_partition": 1024, "dram_bytes": 65536, "dram_bytes_per_second": 1e9,
        "flops_per_second": 1e9, "vector_elements_per_second": 1e9})";

std::string With(const std::string& field) {
  std::string text = kGood;
  text.insert(text.find('{') + 1, field + ",");
  return text;
}

TEST(Machine, PresetsAreReadAndReadBack) {
  ASSERT_EQ(Machines().size(), 5u);
  for (const Machine& machine : Machines()) {
    const auto again = ParseMachine(ToJson(machine), machine.name);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(ToJson(*again), ToJson(machine));
  }
  const auto core = FindMachine("neuroncore_v2");
  ASSERT_TRUE(core);
  EXPECT_EQ(core->ScratchpadBytes(), 128 * 192 * 1024);
  EXPECT_GT(core->instruction_seconds, 0);
  EXPECT_EQ(ParseMachine(kGood, "f")->instruction_seconds, 0) << "where a file doesn't say";
}

TEST(Machine, SaysWhatIsWrong) {
  ASSERT_TRUE(ParseMachine(kGood, "f"));
  const auto complaint = [](const std::string& text) {
    const auto machine = ParseMachine(text, "f");
    return machine ? "" : machine.error().message;
  };
  EXPECT_NE(complaint("[]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(complaint("{\"name\": \"m\"}").find("'bytes_per_partition' is missing"),
            std::string::npos);
  EXPECT_NE(complaint(With("\"partitions\": 0")).find("'partitions' must be"), std::string::npos);
  EXPECT_NE(complaint(With("\"partitions\": 2")).find("'engines_are_partitioned'"),
            std::string::npos);
  EXPECT_NE(complaint(With("\"color\": 1")).find("'color' is not a field"), std::string::npos);
  EXPECT_NE(complaint(With("\"alignment\": \"x\"")).find("'alignment'"), std::string::npos);
  const auto missing = FindMachine("abacus");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("neuroncore_v2"), std::string::npos);
}

}  // namespace
}  // namespace hone::memory
