// A tuning run, its store, and the next run.
#include "tune/records.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "toy_evaluator.h"

namespace hone::tune {
namespace {

using Decided = std::map<std::string, std::string>;

const store::Place kHere{"a processor", 2, "xla 1", "hone 1"};

// Forty partition sites; every tenth is better at 4, the others are worse.
ToyEvaluator MakeTiles() {
  ToyEvaluator toy([](const Decided& decided) {
    double time = 0;
    for (const auto& [key, value] : decided) {
      time += std::stoi(key) % 10 == 0 && value == "4" ? -0.1 : 0.05;
    }
    return time;
  });
  for (SiteKey key = 1; key <= 40; ++key) {
    toy.AddSite(key, CompileSiteKind::kPartitions, {"1", "2", "3", "4"});
  }
  return toy;
}

class RecordsTest : public testing::Test {
 protected:
  RecordsTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "hone-records-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
    store_ = *store::Store::Open(folder_ + "/tuned.db");
  }
  ~RecordsTest() override {
    store_.reset();
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  TuneResult Tune(const std::string& program, bool transfer, int64_t evaluations) {
    TuneOptions options;
    options.budget_seconds = 1e6;
    options.budget_evaluations = evaluations;
    const store::ProgramRow row{program, "module", program + ".hlo", 10};
    EXPECT_TRUE(BeginRecords(*store_, kHere, row, transfer, options));
    ToyEvaluator toy = MakeTiles();
    const TuneResult result = TuneProgram(toy, options);
    EXPECT_TRUE(EndRecords(*store_, kHere, row, result));
    speedup_ = toy.Speedup(result.plan);
    return result;
  }

  std::string folder_;
  std::unique_ptr<store::Store> store_;
  double speedup_ = 0;  // true, of the last plan
};

TEST_F(RecordsTest, AnotherProgramLearnsFromTheFirst) {
  const TuneResult first = Tune("aa", true, 300);
  ASSERT_TRUE(first.kept) << first.reason;
  EXPECT_NEAR(speedup_, std::exp(0.4), 0.02);
  EXPECT_EQ(store_->Lessons(kHere)->size(), 4u);
  (void)Tune("bb", false, 6);
  EXPECT_LT(speedup_, 1.2) << "on its own";
  const TuneResult taught = Tune("cc", true, 6);
  EXPECT_TRUE(taught.kept) << taught.reason;
  EXPECT_NEAR(speedup_, std::exp(0.4), 0.02);
  const auto listed = *store_->List();
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].program.program, "aa");
  EXPECT_TRUE(listed[0].outcome.kept);
  EXPECT_GT(listed[0].measurements, 100);
}

TEST_F(RecordsTest, TheSameProgramGoesOn) {
  ASSERT_TRUE(Tune("aa", false, 300).kept);
  const TuneResult again = Tune("aa", false, 4);
  EXPECT_TRUE(again.kept) << again.reason;
  EXPECT_NEAR(speedup_, std::exp(0.4), 0.02);
}

}  // namespace
}  // namespace hone::tune
