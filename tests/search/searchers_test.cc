// One suite over every searcher.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/rng.h"
#include "search/searcher.h"

namespace hone {
namespace {

// A toy with a known optimum: the actions 0..9 are switches, each turns on once. Switch 3 lowers
// the value by 5, but only after 7 has been turned on; 1, 4 lower it by 1; the rest do nothing
// good.
constexpr double kInitial = 20;
constexpr double kOptimum = 20 - 5 - 1 - 1;

Trial Evaluate(const Sequence& sequence) {
  Trial trial{sequence, {}};
  std::set<Action> on;
  double value = kInitial;
  for (Action action : sequence) {
    const bool works = action != 3 || on.count(7) != 0;
    const bool changed = works && action < 8 && on.insert(action).second;
    if (changed) value -= action == 3 ? 5 : action == 1 || action == 4 ? 1 : 0;
    trial.results.push_back({action, changed, action == 9, value});
  }
  return trial;
}

SearchProblem Toy() {
  SearchProblem problem;
  for (Action action = 0; action < 10; ++action) problem.actions.push_back(action);
  problem.starts = {{1, 2}};
  problem.initial_value = kInitial;
  return problem;
}

class EverySearcher : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Searcher> Make(uint64_t seed) {
    return FindSearcher(GetParam())->make(Toy(), seed);
  }
};

TEST_P(EverySearcher, AsksForNoMoreThanItMayAndOnlyForKnownActions) {
  const auto searcher = Make(1);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Sequence> asked = searcher->Ask(3);
    if (asked.empty()) break;
    ASSERT_LE(asked.size(), 3u);
    for (const Sequence& sequence : asked) {
      EXPECT_LE(sequence.size(), Toy().longest);
      for (Action action : sequence) EXPECT_LT(action, 10);
      searcher->Tell(Evaluate(sequence));
    }
  }
}

TEST_P(EverySearcher, DoesTheSameWithTheSameSeed) {
  const auto a = Make(5);
  const auto b = Make(5);
  for (int i = 0; i < 100; ++i) {
    const std::vector<Sequence> asked = a->Ask(4);
    ASSERT_EQ(asked, b->Ask(4));
    for (const Sequence& sequence : asked) {
      a->Tell(Evaluate(sequence));
      b->Tell(Evaluate(sequence));
    }
  }
}

TEST_P(EverySearcher, FindsTheOptimum) {
  const auto searcher = Make(2);
  double best = kInitial;
  for (int i = 0; i < 2000; ++i) {
    for (const Sequence& sequence : searcher->Ask(4)) {
      const Trial trial = Evaluate(sequence);
      best = std::min(best, BestPrefix(trial, kInitial).value);
      searcher->Tell(trial);
    }
  }
  EXPECT_EQ(best, kOptimum);
}

TEST_P(EverySearcher, BearsTrialsThatCouldNotBeEvaluated) {
  const auto searcher = Make(3);
  for (int i = 0; i < 100; ++i) {
    for (const Sequence& sequence : searcher->Ask(2)) searcher->Tell({sequence, {}});
  }
}

INSTANTIATE_TEST_SUITE_P(All, EverySearcher, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const SearcherInfo& info : Searchers()) {
                             names.emplace_back(info.name);
                           }
                           return names;
                         }()),
                         [](const auto& info) { return info.param; });

TEST(BestPrefix, LeavesOutWhatChangedNothingAndWhatCameAfterTheBest) {
  const Trial trial{{2, 9, 1, 4, 0}, Evaluate({2, 9, 1, 4, 0}).results};
  const Prefix prefix = BestPrefix(trial, kInitial);
  EXPECT_EQ(prefix.value, kInitial - 2);
  EXPECT_EQ(prefix.sequence, (Sequence{2, 1, 4}));
}

TEST(Rng, IsTheSameEverywhere) {
  // SplitMix64's published first value for seed 0.
  EXPECT_EQ(Rng(0).Next(), 0xe220a8397b1dcdafull);
}

}  // namespace
}  // namespace hone
