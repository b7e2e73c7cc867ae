// When a race has pairs enough.
#include "core/race_tally.h"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

RaceOptions Looking() {
  RaceOptions options;
  options.budget_seconds = 2;
  options.least_pairs = 20;
  options.clear = 1.3;
  return options;
}

// Whether it is over after these pairs of a second of b each, as many seconds after its begin.
bool IsOverAfter(const RaceOptions& options, const std::vector<double>& ratios, double seconds) {
  RaceTally tally(options);
  for (double ratio : ratios) tally.Add(ratio, 1);
  return tally.IsOver(seconds);
}

TEST(RaceTally, WhatIsNoFasterGetsItsSecondsAndNoMore) {
  const std::vector<double> alike = {1.01, 0.99, 1.0, 0.98, 1.02, 1.0};
  EXPECT_FALSE(IsOverAfter(Looking(), alike, 1.9));
  EXPECT_TRUE(IsOverAfter(Looking(), alike, 2.1));
  EXPECT_FALSE(IsOverAfter(Looking(), {1.01, 0.99, 1.0, 0.98, 1.02}, 2.1))
      << "five pairs tell nothing";
  const std::vector<double> promising = {1.1, 1.2, 0.99, 1.1, 1.15, 1.1};
  EXPECT_FALSE(IsOverAfter(Looking(), promising, 7.9));
  EXPECT_TRUE(IsOverAfter(Looking(), promising, 8.1));
}

TEST(RaceTally, WhoIsPatientSeesALossThrough) {
  RaceOptions patient = Looking();
  patient.patient = true;
  EXPECT_TRUE(IsOverAfter(Looking(), {0.9, 0.8, 0.95}, 0.1));
  EXPECT_FALSE(IsOverAfter(patient, {0.9, 0.8, 0.95}, 0.1));
  EXPECT_FALSE(IsOverAfter(patient, {1.01, 0.99, 1.0, 0.98, 1.02, 1.0}, 2.1));
  EXPECT_TRUE(IsOverAfter(patient, {1.5, 1.4, 1.6, 1.31, 1.5, 1.7}, 0.1)) << "clear to anybody";
}

TEST(RaceTally, PairsThatFollowEachOtherDecideNothingAtOnce) {
  RaceOptions options;
  options.least_seconds = 1;
  const std::vector<double> faster(30, 1.1);
  EXPECT_FALSE(IsOverAfter(options, faster, 0.9));
  EXPECT_TRUE(IsOverAfter(options, faster, 1.1));
  EXPECT_TRUE(IsOverAfter(options, std::vector<double>(400, 1.1), 0.9)) << "all that there may be";
  options.budget_seconds = 0.5;
  EXPECT_TRUE(IsOverAfter(options, faster, 0.6)) << "not longer than the budget";
}

TEST(RaceTally, WhoDoesNotLookForSomethingFasterHasAllPairs) {
  RaceOptions all = Looking();
  all.clear = 0;
  EXPECT_FALSE(IsOverAfter(all, {0.9, 0.8, 0.95, 0.9, 0.9, 0.9}, 2.1));
  EXPECT_FALSE(IsOverAfter(all, {1.5, 1.4, 1.6, 1.31, 1.5, 1.7}, 2.1));
}

}  // namespace
}  // namespace hone
