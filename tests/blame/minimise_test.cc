#include "blame/minimise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/rng.h"

namespace hone::blame {
namespace {

using Part = std::vector<size_t>;

Part Numbers(size_t count) {
  Part numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

bool Holds(const Part& all, const Part& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

ShowsTest AllOf(const Part& guilty) {
  return [guilty](const Part& chosen) { return Holds(chosen, guilty) ? Shows::kYes : Shows::kNo; };
}

const auto kNever = [] { return false; };

TEST(Minimise, FindsTheOneInFewTests) {
  for (size_t guilty = 0; guilty < 200; guilty += 7) {
    const Minimised found = Minimise(Numbers(200), AllOf({guilty}), kNever);
    EXPECT_TRUE(found.minimal);
    EXPECT_EQ(found.part, Part{guilty});
    EXPECT_LE(found.tests, 16) << "two for each halving";
  }
}

TEST(Minimise, FindsThoseThatDoItTogether) {
  Rng rng(5);
  for (int round = 0; round < 50; ++round) {
    Part guilty;
    while (guilty.size() < 3) {
      const size_t one = rng.Below(40);
      if (std::find(guilty.begin(), guilty.end(), one) == guilty.end()) guilty.push_back(one);
    }
    std::sort(guilty.begin(), guilty.end());
    const Minimised found = Minimise(Numbers(40), AllOf(guilty), kNever);
    EXPECT_TRUE(found.minimal);
    EXPECT_EQ(found.part, guilty);
  }
}

TEST(Minimise, OfSeveralThatDoItAloneFindsOne) {
  const auto either = [](const Part& chosen) {
    return Holds(chosen, {3}) || Holds(chosen, {17}) ? Shows::kYes : Shows::kNo;
  };
  const Minimised found = Minimise(Numbers(20), either, kNever);
  EXPECT_TRUE(found.part == Part{3} || found.part == Part{17});
}

TEST(Minimise, WhatIsNotSureIsNotTaken) {
  const auto unsure = [](const Part&) { return Shows::kUnsure; };
  EXPECT_EQ(Minimise(Numbers(6), unsure, kNever).part, Numbers(6));
}

TEST(Minimise, EndsWhenItIsToldTo) {
  int tests = 0;
  const auto count = [&](const Part& chosen) {
    ++tests;
    return Holds(chosen, {30}) ? Shows::kYes : Shows::kNo;
  };
  const Minimised found = Minimise(Numbers(64), count, [&] { return tests == 3; });
  EXPECT_FALSE(found.minimal);
  EXPECT_EQ(tests, 3);
  EXPECT_TRUE(Holds(found.part, {30})) << "what is returned shows it";
}

TEST(Minimise, OneIsMinimalUntested) {
  const Minimised found = Minimise({4}, AllOf({4}), kNever);
  EXPECT_TRUE(found.minimal);
  EXPECT_EQ(found.tests, 0);
}

}  // namespace
}  // namespace hone::blame
