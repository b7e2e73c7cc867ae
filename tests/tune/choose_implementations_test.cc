#include "tune/choose_implementations.h"

#include <gtest/gtest.h>

#include <algorithm>
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

  ChooseResult Choose(const PassSequence& candidates, const PassSequence& together = {},
                      ChooseOptions options = {}) {
    options.together = {together};
    return ChooseImplementations(
        candidates,
        [this](const PassSequence& passes) -> StatusOr<RaceReport> {
          held.push_back(passes);
          RaceReport report;
          report.speedup = Of(passes);
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

TEST(ChooseImplementations, AddsEachThatGains) {
  Races races({{"a", 1.1}, {"b", 0.9}, {"c", 2}, {"d", 1.005}});
  const ChooseResult chosen = races.Choose({"a", "b", "c", "d"});
  EXPECT_EQ(chosen.passes, (PassSequence{"a", "c"}));
  EXPECT_DOUBLE_EQ(chosen.race.speedup, 2.2);
  // On top of the best so far: after each race there is a plan for the whole.
  EXPECT_EQ(races.held[1], (PassSequence{"a", "b"}));
  EXPECT_EQ(races.held[2], (PassSequence{"a", "c"}));
}

TEST(ChooseImplementations, SmallGainsAreTakenAtOnce) {
  Races races({{"a", 1.2}, {"b", 1.03}, {"c", 1.04}, {"d", 0.99}});
  ChooseOptions options;
  options.at_once = {"a", "b", "c"};
  const ChooseResult chosen = races.Choose({"a", "b", "c", "d"}, {"a"}, options);
  EXPECT_EQ(chosen.passes, (PassSequence{"a", "b", "c"}));
  EXPECT_EQ(races.held[0], (PassSequence{"a"}));
  EXPECT_EQ(races.held[1], (PassSequence{"a", "b", "c"}));
}

TEST(ChooseImplementations, WhatOfAGroupDoesHarmIsLeftOut) {
  Races races({{"a", 1.4}, {"b", 0.8}, {"c", 1.1}});
  ChooseOptions options;
  options.doubtful = {"b", "c"};
  EXPECT_EQ(races.Choose({"a", "b", "c"}, {"a", "b", "c"}, options).passes,
            (PassSequence{"a", "c"}));
  // However fast it is.
  Races fast({{"a", 4}, {"b", 0.8}, {"c", 1.1}});
  EXPECT_EQ(fast.Choose({"a", "b", "c"}, {"a", "b", "c"}, options).passes,
            (PassSequence{"a", "c"}));
  EXPECT_EQ(fast.held[1], (PassSequence{"a", "c"}));
  // Where all of it loses what is left of it comes next.
  Races slow({{"a", 1.2}, {"b", 0.5}, {"c", 1.1}});
  EXPECT_EQ(slow.Choose({"a", "b", "c"}, {"a", "b", "c"}, options).passes,
            (PassSequence{"a", "c"}));
  EXPECT_EQ(slow.held[1], PassSequence{"a"});
}

TEST(ChooseImplementations, WhereAllGainNothingTheFirstToGoIsWhatMayDoHarm) {
  ChooseOptions options;
  options.doubtful = {"b", "c"};
  options.harmful = {"c"};
  Races slow({{"a", 1.2}, {"b", 1.1}, {"c", 0.5}});
  EXPECT_EQ(slow.Choose({"b", "a", "c"}, {"a", "b", "c"}, options).passes,
            (PassSequence{"a", "b"}));
  EXPECT_EQ(slow.held[1], (PassSequence{"a", "b"}));
  Races fast({{"a", 1.2}, {"b", 1.1}, {"c", 1.5}});
  fast.Choose({"b", "a", "c"}, {"a", "b", "c"}, options);
  EXPECT_EQ(fast.held[1], (PassSequence{"a", "c"}));
}

TEST(ChooseImplementations, WhatTakesLongToCompileComesLast) {
  std::vector<PassSequence> held;
  ChooseOptions options;
  options.large = [](const PassSequence& passes) { return passes.size() > 1 && passes[1] == "b"; };
  const auto race = [&](const PassSequence& passes) -> StatusOr<RaceReport> {
    held.push_back(passes);
    RaceReport report;
    report.low = report.speedup = 1 + 0.5 * static_cast<double>(passes.size());
    return report;
  };
  ChooseImplementations({"a", "b", "c"}, race, options);
  EXPECT_EQ(held, (std::vector<PassSequence>{{"a"}, {"a", "c"}, {"a", "c", "b"}}));
}

// Some may be in others' way.
TEST(ChooseImplementations, WhatRanPastItsDeadlineIsNotRacedAlone) {
  std::vector<PassSequence> held;
  const auto race = [&](const PassSequence& passes) -> StatusOr<RaceReport> {
    held.push_back(passes);
    if (passes.back() == "b") return MakeError(ErrorCode::kDeadline, "late");
    if (passes.back() == "c") return MakeError(ErrorCode::kPassFailed, "broken");
    RaceReport report;
    report.speedup = report.low = report.high = 2;
    return report;
  };
  const ChooseResult chosen = ChooseImplementations({"a", "b", "c"}, race, {});
  EXPECT_EQ(chosen.passes, PassSequence{"a"});
  EXPECT_EQ(held, (std::vector<PassSequence>{{"a"}, {"a", "b"}, {"a", "c"}, {"c"}}));
}

TEST(ChooseImplementations, AGroupThatRanLateIsRacedWithoutWhatGrows) {
  std::vector<PassSequence> held;
  const auto race = [&](const PassSequence& passes) -> StatusOr<RaceReport> {
    held.push_back(passes);
    if (std::count(passes.begin(), passes.end(), "grows") > 0) {
      return MakeError(ErrorCode::kDeadline, "late");
    }
    RaceReport report;
    report.speedup = report.low = 1 + 0.1 * static_cast<double>(passes.size());
    return report;
  };
  ChooseOptions options;
  options.together = {{"a", "grows", "b"}};
  options.growing = {"grows"};
  EXPECT_EQ(ChooseImplementations({"a", "grows", "b", "c"}, race, options).passes,
            (PassSequence{"a", "b", "c"}));
  EXPECT_EQ(held, (std::vector<PassSequence>{{"a", "grows", "b"}, {"a", "b"}, {"a", "b", "c"}}))
      << "what is late is not raced again";
}

TEST(ChooseImplementations, WhereAGroupLosesWhatIsMostExpectedComesNext) {
  Races races({{"a", 2}, {"b", 0.4}, {"c", 0.9}});
  EXPECT_EQ(races.Choose({"a", "b", "c"}, {"b", "c", "a"}).passes, PassSequence{"a"});
  EXPECT_EQ(races.held[1], PassSequence{"a"});
}

TEST(ChooseImplementations, RacesOtherCombinationsUpToAClearGain) {
  std::vector<PassSequence> held;
  double first = 1.2;
  const auto race = [&](const PassSequence& passes) -> StatusOr<RaceReport> {
    held.push_back(passes);
    RaceReport report;
    report.speedup = passes == PassSequence{"a", "b"} ? first
                     : passes == PassSequence{"b"}    ? 1.4
                                                      : 1;
    report.low = 0.99 * report.speedup;
    return report;
  };
  ChooseOptions options;
  options.together = {{"a", "b"}, {"a"}, {"b"}};
  EXPECT_EQ(ChooseImplementations({"a", "b"}, race, options).passes, PassSequence{"b"});
  EXPECT_EQ(held[2], PassSequence{"b"});
  first = 1.6;
  held.clear();
  EXPECT_EQ(ChooseImplementations({"a", "b"}, race, options).passes, (PassSequence{"a", "b"}));
  EXPECT_EQ(held[0], (PassSequence{"a", "b"}));
  EXPECT_EQ(std::count(held.begin(), held.end(), PassSequence{"b"}), 0);
}

TEST(ChooseImplementations, AllThatIsLeftIsAddedBeforeOtherCombinations) {
  Races races({{"a", 1.1}, {"b", 1.1}, {"c", 1.1}, {"d", 1.05}});
  ChooseOptions options;
  options.at_once = {"c", "d"};
  EXPECT_EQ(races.Choose({"a", "b", "c", "d"}, {"a", "b"}, options).passes,
            (PassSequence{"a", "b", "c", "d"}));
  EXPECT_EQ(races.held[1], (PassSequence{"a", "b", "c", "d"}));
}

TEST(ChooseImplementations, RacesTogetherFirstAndBuildsOnIt) {
  Races races({{"a", 1.1}, {"b", 1.5}, {"c", 1.2}});
  const ChooseResult chosen = races.Choose({"a", "b", "c"}, {"a", "b"});
  EXPECT_EQ(races.held[0], (PassSequence{"a", "b"}));
  EXPECT_EQ(races.held[1], (PassSequence{"a", "b", "c"}));
  EXPECT_EQ(chosen.passes, (PassSequence{"a", "b", "c"}));
}

TEST(ChooseImplementations, RacesOneThatIsToComeFirstAndNotAgain) {
  Races races({{"a", 0.9}, {"b", 0.8}, {"c", 0.7}});
  races.Choose({"a", "b", "c"}, {"c"});
  EXPECT_EQ(races.held, (std::vector<PassSequence>{{"c"}, {"a"}, {"b"}}));
}

TEST(ChooseImplementations, TheFirstOneAloneThenWithTheBestCombination) {
  std::vector<PassSequence> held;
  double first = 1.3, b = 1.1, c = 1.1;
  const auto race = [&](const PassSequence& passes) -> StatusOr<RaceReport> {
    held.push_back(passes);
    RaceReport report;
    for (const std::string& pass : passes) {
      report.speedup *= pass == "a" ? first : pass == "b" ? b : c;
    }
    report.low = 0.99 * report.speedup;
    return report;
  };
  ChooseOptions options;
  options.first = "a";
  options.together = {{"b", "c"}, {"b"}};
  const auto choose = [&] {
    held.clear();
    return ChooseImplementations({"a", "b", "c"}, race, options).passes;
  };
  EXPECT_EQ(choose(), (PassSequence{"a", "b", "c"}));
  EXPECT_EQ(held, (std::vector<PassSequence>{{"a"}, {"b", "c"}, {"a", "b", "c"}}));
  first = 2;
  EXPECT_EQ(choose(), (PassSequence{"a", "b", "c"}));
  EXPECT_EQ(held[1], (PassSequence{"a", "b", "c"})) << "combinations are not waited for";
  first = 1.1, b = 1.8;
  EXPECT_EQ(choose(), (PassSequence{"a", "b", "c"}));
  EXPECT_EQ(held[1], (PassSequence{"b", "c"})) << "it may be in their way";
  first = 0.9, b = 1.1;
  EXPECT_EQ(choose(), (PassSequence{"b", "c"}));
  EXPECT_EQ(held[2], PassSequence{"b"});
}

TEST(ChooseImplementations, LeavesOutWhatHarmsTheOthers) {
  Races races({{"a", 0.6}, {"b", 1.5}, {"c", 1.2}});
  EXPECT_EQ(races.Choose({"a", "b", "c"}, {"a", "b"}).passes, (PassSequence{"c", "b"}));
}

TEST(ChooseImplementations, WhereACombinationGainsNothingOneThatItLacksIsNext) {
  Races races({{"a", 1}, {"b", 1}, {"c", 1.2}});
  EXPECT_EQ(races.Choose({"a", "b", "c"}, {"a", "b"}).passes, PassSequence{"c"});
  ASSERT_GE(races.held.size(), 3u);
  EXPECT_EQ(races.held[2], PassSequence{"c"});
}

TEST(ChooseImplementations, TakesWhatIsBetterThanWhatIsInItsWay) {
  std::vector<PassSequence> held;
  // Where the first one was made, the second finds nothing to replace.
  const auto race = [&](const PassSequence& passes) -> StatusOr<RaceReport> {
    held.push_back(passes);
    RaceReport report;
    report.speedup = passes[0] == "worse" ? 1.2 : 1.5;
    if (passes.back() == "other") report.speedup *= 1.1;
    report.low = report.speedup;
    return report;
  };
  const ChooseResult chosen = ChooseImplementations({"worse", "better", "other"}, race, {});
  EXPECT_EQ(chosen.passes, (PassSequence{"better", "other"}));
}

TEST(ChooseImplementations, OfOneAloneNothingIsRacedTwice) {
  Races races({{"a", 1.5}});
  races.Choose({"a"}, {"a"});
  EXPECT_EQ(races.held, (std::vector<PassSequence>{{"a"}}));
}

TEST(ChooseImplementations, NothingIsChosenWhereNothingIsFaster) {
  Races races({{"a", 1}, {"b", 0.5}});
  EXPECT_TRUE(races.Choose({"a", "b"}, {"a", "b"}).passes.empty());
}

}  // namespace
}  // namespace hone::tune
