#include "tune/choose_implementations.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hone::tune {
namespace {

// Races in which each pass makes the program so many times as fast, whatever is around it.
class Races {
 public:
  explicit Races(std::map<std::string, double> speedups) : speedups_(std::move(speedups)) {}

  ChooseResult Choose(const PassSequence& candidates, const PassSequence& together = {}) {
    ChooseOptions options;
    options.together = together;
    return ChooseImplementations(
        candidates,
        [this](const PassSequence& a, const PassSequence& b) -> StatusOr<RaceReport> {
          held.push_back(b);
          RaceReport report;
          report.speedup = Of(b) / Of(a);
          report.low = 0.99 * report.speedup;
          report.high = 1.01 * report.speedup;
          return report;
        },
        options);
  }

  std::vector<PassSequence> held;

 private:
  double Of(const PassSequence& passes) const {
    double speedup = 1;
    for (const std::string& pass : passes) speedup *= speedups_.at(pass);
    return speedup;
  }

  const std::map<std::string, double> speedups_;
};

TEST(ChooseImplementations, TakesWinnersBestFirst) {
  Races races({{"a", 1.1}, {"b", 0.9}, {"c", 2}, {"d", 1.005}});
  const ChooseResult chosen = races.Choose({"a", "b", "c", "d"});
  EXPECT_EQ(chosen.passes, (PassSequence{"c", "a"}));
  EXPECT_DOUBLE_EQ(chosen.race.speedup, 2.2);
}

TEST(ChooseImplementations, RacesTogetherFirstAndBuildsOnIt) {
  Races races({{"a", 1.1}, {"b", 1.5}, {"c", 1.2}});
  const ChooseResult chosen = races.Choose({"a", "b", "c"}, {"a", "b"});
  EXPECT_EQ(races.held[0], (PassSequence{"a", "b"}));
  EXPECT_EQ(chosen.passes, (PassSequence{"a", "b", "c"}));
}

TEST(ChooseImplementations, LeavesOutWhatHarmsTheOthers) {
  Races races({{"a", 0.8}, {"b", 1.5}, {"c", 1.2}});
  EXPECT_EQ(races.Choose({"a", "b", "c"}, {"a", "b"}).passes, (PassSequence{"b", "c"}));
}

TEST(ChooseImplementations, OfOneAloneNothingIsRacedTwice) {
  Races races({{"a", 1.5}});
  races.Choose({"a"}, {"a"});
  EXPECT_EQ(races.held, (std::vector<PassSequence>{{"a"}, {"a"}}));  // and in the end
}

TEST(ChooseImplementations, NothingIsChosenWhereNothingIsFaster) {
  Races races({{"a", 1}, {"b", 0.5}});
  EXPECT_TRUE(races.Choose({"a", "b"}, {"a", "b"}).passes.empty());
}

}  // namespace
}  // namespace hone::tune
