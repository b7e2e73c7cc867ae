#include "report/paired.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/rng.h"

namespace hone::report {
namespace {

// A sum of uniform numbers: mean 0, deviation 1.
double Noise(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.Unit();
  return sum;
}

struct Planted {
  double difference = 0;   // of the second method's logarithms from the first's
  double of_programs = 1;  // deviation, shared by both methods
  double of_runs = 0.01;   // deviation of a run
  int programs = 40;
  int seeds = 3;
};

std::vector<std::vector<Sample>> Plant(const Planted& planted, uint64_t seed) {
  Rng rng(seed);
  std::vector<std::vector<Sample>> methods(2);
  for (int i = 0; i < planted.programs; ++i) {
    const double base = planted.of_programs * Noise(rng);
    for (size_t method = 0; method < 2; ++method) {
      for (int run = 0; run < planted.seeds; ++run) {
        const double shift = method == 1 ? planted.difference : 0;
        methods[method].push_back(
            {"p" + std::to_string(i), std::exp(base + shift + planted.of_runs * Noise(rng))});
      }
    }
  }
  return methods;
}

// Programs differ by a hundred times what the methods do: only the pairing can tell them apart.
TEST(Paired, FindsASmallDifferenceAmongVeryDifferentPrograms) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto methods = Plant({0.01}, seed);
    const Mean first = GeometricMean(methods[0]);
    const Mean second = GeometricMean(methods[1]);
    EXPECT_GT(first.high, second.low);  // the intervals by themselves overlap
    const auto pairs = ComparePairs(methods);
    ASSERT_EQ(pairs.size(), 1u);
    EXPECT_EQ(pairs[0].standing, Standing::kWorse) << seed;
    EXPECT_LT(pairs[0].quotient.high, 1);
    EXPECT_NEAR(pairs[0].quotient.mean, std::exp(-0.01), 0.005);
    EXPECT_EQ(ComparePairs({methods[1], methods[0]})[0].standing, Standing::kBetter);
  }
}

// A 95 % interval is off 1 for one in twenty: of 200 rarely for more than 24 (3.5 deviations more).
TEST(Paired, CallsNobodyBetterWhereThereIsNoDifference) {
  int called = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    called +=
        ComparePairs(Plant({0, 1, 0.1, 30, 3}, seed), seed, 400)[0].standing != Standing::kUnclear;
  }
  EXPECT_LE(called, 24);
  EXPECT_GE(called, 1);
}

TEST(Paired, TheSameResultsAreNotBetter) {
  const auto methods = Plant({}, 1);
  const auto pairs = ComparePairs({methods[0], methods[0]});
  EXPECT_EQ(pairs[0].standing, Standing::kUnclear);
  EXPECT_DOUBLE_EQ(pairs[0].quotient.mean, 1);
}

// One program that is far better says nothing of the others.
TEST(Paired, OneProgramDoesNotMakeAMethodBetter) {
  std::vector<std::vector<Sample>> methods(2);
  for (int i = 0; i < 20; ++i) {
    methods[0].push_back({std::to_string(i), i == 7 ? 100.0 : 1.0});
    methods[1].push_back({std::to_string(i), 1});
  }
  const auto pairs = ComparePairs(methods);
  EXPECT_GT(pairs[0].quotient.mean, 1.2);
  EXPECT_EQ(pairs[0].standing, Standing::kUnclear);
}

TEST(Paired, OfFewProgramsNothingIsSaid) {
  for (const int programs : {0, 1, 7, 8}) {
    const auto pairs = ComparePairs(Plant({1, 1, 0.01, programs, 2}, 3));
    ASSERT_EQ(pairs.size(), 1u);
    EXPECT_EQ(pairs[0].quotient.programs, static_cast<size_t>(programs));
    EXPECT_EQ(pairs[0].standing, programs < 8 ? Standing::kUnclear : Standing::kWorse) << programs;
  }
}

TEST(Paired, OnlyProgramsOfAllMethodsCount) {
  auto methods = Plant({0.01}, 4);
  const Mean before = ComparePairs(methods)[0].quotient;
  methods[0].push_back({"only here", 1e6});
  methods[1].push_back({"only there", 1e-6});
  const Mean after = ComparePairs(methods)[0].quotient;
  EXPECT_EQ(after.mean, before.mean);
  EXPECT_EQ(after.programs, 40u);
}

TEST(Paired, HangsOnItsSeedAlone) {
  const auto methods = Plant({0.01, 1, 0.5}, 5);
  const Mean once = ComparePairs(methods, 7)[0].quotient;
  const Mean again = ComparePairs(methods, 7)[0].quotient;
  const Mean other = ComparePairs(methods, 8)[0].quotient;
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  EXPECT_NE(once.low, other.low);
  EXPECT_EQ(once.mean, other.mean);
}

TEST(Paired, PairsAreInTheOrderOfTheMethods) {
  const auto two = Plant({0.5}, 6);
  const auto pairs = ComparePairs({two[1], two[0], two[1]});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].a, 0u);
  EXPECT_EQ(pairs[0].b, 1u);
  EXPECT_EQ(pairs[0].standing, Standing::kBetter);
  EXPECT_EQ(pairs[1].b, 2u);
  EXPECT_EQ(pairs[1].standing, Standing::kUnclear);
  EXPECT_EQ(pairs[2].a, 1u);
  EXPECT_EQ(pairs[2].standing, Standing::kWorse);
}

TEST(Ratios, AreThoseOfTheMoment) {
  Evaluation row;
  row.program = "p";
  row.initial = 100;
  row.by_default = 80;
  row.value = 60;
  row.curve = {{10, 0.5, 90}, {50, 2, 60}};
  Evaluation none = row;
  none.by_default = 100;
  const auto at = [&](const Moment& moment) {
    const auto samples = Ratios({row, none}, moment);
    EXPECT_EQ(samples.size(), 1u);
    return samples[0].value;
  };
  EXPECT_DOUBLE_EQ(at({}), 2);
  EXPECT_DOUBLE_EQ(at({10, 0}), 0.5);
  EXPECT_DOUBLE_EQ(at({9, 0}), kLeastRatio);
  EXPECT_DOUBLE_EQ(at({0, 1}), 0.5);
  EXPECT_DOUBLE_EQ(at({0, 3}), 2);
}

}  // namespace
}  // namespace hone::report
