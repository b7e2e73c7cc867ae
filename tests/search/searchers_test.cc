// One suite over every searcher.
#include <gtest/gtest.h>

#include "core/rng.h"
#include "search/searcher.h"
#include "toy.h"

namespace hone {
namespace {

// With all that any searcher needs.
Toy Full() {
  Toy toy = Switches();
  toy.problem.coreset = {{0, 9, 7}, {7, 3, 1, 4}, {5, 42}};
  toy.problem.prior = std::make_shared<ToyPrior>(Sequence{7, 3, 1, 4}, 10, true);
  return toy;
}

struct Case {
  std::string name;
  bool prior = false;  // the problem has one
};

bool AsksButOnce(const std::string& name) {
  return name == "coreset" || name == "greedy" || name == "policy_greedy";
}

std::vector<Case> Cases(bool (*with)(const Case&)) {
  std::vector<Case> cases;
  for (const SearcherInfo& info : Searchers()) {
    for (bool prior : {false, true}) {
      const Case one{std::string(info.name), prior};
      if ((prior || info.needs != Needs::kPrior) && with(one)) cases.push_back(one);
    }
  }
  return cases;
}

std::string CaseName(const testing::TestParamInfo<Case>& info) {
  return info.param.name + (info.param.prior ? "_with_prior" : "");
}

class EverySearcher : public testing::TestWithParam<Case> {
 protected:
  EverySearcher() {
    if (!GetParam().prior) toy_.problem.prior = nullptr;
  }
  std::unique_ptr<Searcher> Make(uint64_t seed) {
    return hone::Make(GetParam().name, toy_.problem, seed);
  }
  void CheckAsked(int rounds, size_t most) {
    const auto searcher = Make(1);
    for (int i = 0; i < rounds; ++i) {
      const std::vector<Sequence> asked = searcher->Ask(most);
      if (asked.empty()) break;
      ASSERT_LE(asked.size(), most);
      for (const Sequence& sequence : asked) {
        EXPECT_LE(sequence.size(), toy_.problem.longest);
        for (Action action : sequence) EXPECT_LT(action, 10);
        searcher->Tell(Evaluate(toy_, sequence));
      }
    }
  }

  Toy toy_ = Full();
};
class PersistentSearcher : public EverySearcher {};
class SearcherWithPrior : public EverySearcher {};

TEST_P(EverySearcher, AsksForNoMoreThanItMayAndOnlyForKnownActions) {
  CheckAsked(200, 3);
  CheckAsked(300, 1);
  CheckAsked(50, 64);
}

TEST_P(EverySearcher, AsksForNothingThatIsTooLong) {
  toy_.problem.longest = 3;
  toy_.problem.starts = {{1, 2, 4, 7, 3}};
  toy_.problem.coreset = {{1, 2, 4, 7, 3}};
  CheckAsked(200, 4);
}

TEST_P(EverySearcher, DoesTheSameWithTheSameSeed) {
  const auto a = Make(5);
  const auto b = Make(5);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Sequence> asked = a->Ask(4);
    ASSERT_EQ(asked, b->Ask(4));
    for (const Sequence& sequence : asked) {
      a->Tell(Evaluate(toy_, sequence));
      b->Tell(Evaluate(toy_, sequence));
    }
  }
}

TEST_P(EverySearcher, FindsTheOptimum) {
  EXPECT_EQ(Drive(toy_, *Make(2), 8000, kOptimum).best, kOptimum);
}

TEST_P(EverySearcher, FindsTheOptimumFromScratch) {
  toy_.problem.starts.clear();
  EXPECT_EQ(Drive(toy_, *Make(2), 8000, kOptimum).best, kOptimum);
}

TEST_P(PersistentSearcher, TakesAGoodStartFirst) {
  toy_.problem.starts = {{0, 1}, {1, 4, 7, 3}};
  EXPECT_EQ(Drive(toy_, *Make(4), 4, kOptimum).trials, 2);
}

TEST_P(EverySearcher, BearsTrialsThatCouldNotBeEvaluated) {
  const auto searcher = Make(3);
  for (int i = 0; i < 100; ++i) {
    for (const Sequence& sequence : searcher->Ask(2)) searcher->Tell({sequence, {}});
  }
}

TEST_P(PersistentSearcher, FindsTheOptimumThoughAThirdCannotBeEvaluated) {
  double best = kInitial;
  // What fails for one seed need not for the next, but the order of asking stays.
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const auto searcher = Make(seed);
    Rng rng(seed);
    for (int i = 0; i < 200; ++i) {
      for (const Sequence& sequence : searcher->Ask(4)) {
        Trial trial = Evaluate(toy_, sequence);
        if (rng.Below(3) == 0) trial.results.clear();
        best = std::min(best, BestPrefix(trial, kInitial).value);
        searcher->Tell(trial);
      }
    }
  }
  EXPECT_EQ(best, kOptimum);
}

TEST_P(EverySearcher, EndsOrGoesOnWhereEverythingIsIdle) {
  toy_.next = [](uint64_t state, Action) { return state; };
  const Outcome outcome = Drive(toy_, *Make(6), 500, 0);
  EXPECT_EQ(outcome.best, kInitial);
  EXPECT_TRUE(outcome.exhausted || outcome.all_trials >= 500);
}

TEST_P(EverySearcher, EndsOrGoesOnWhereActionsGoInCircles) {
  toy_.next = [](uint64_t state, Action action) { return action < 3 ? (state + 1) % 5 : state; };
  toy_.value = [](uint64_t state) { return kInitial + static_cast<double>(state == 2); };
  const Outcome outcome = Drive(toy_, *Make(6), 500, 0);
  EXPECT_EQ(outcome.best, kInitial);
  EXPECT_TRUE(outcome.exhausted || outcome.all_trials >= 500);
}

TEST_P(SearcherWithPrior, TakesAPriorThatNeedsArrays) {
  const auto prior = std::make_shared<ToyPrior>(Sequence{7, 3, 1, 4}, 10, false, true);
  toy_.problem.prior = prior;
  toy_.problem.initial_observed.arrays = std::make_shared<ProgramArrays>();
  EXPECT_EQ(Drive(toy_, *Make(2), 8000, kOptimum).best, kOptimum);
  EXPECT_EQ(prior->blind(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, EverySearcher,
                         testing::ValuesIn(Cases([](const Case&) { return true; })), CaseName);
// Those that take the starts first, and ask again for what could not be evaluated.
INSTANTIATE_TEST_SUITE_P(All, PersistentSearcher, testing::ValuesIn(Cases([](const Case& one) {
                           return !AsksButOnce(one.name);
                         })),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(All, SearcherWithPrior,
                         testing::ValuesIn(Cases([](const Case& one) { return one.prior; })),
                         CaseName);

TEST(BestPrefix, LeavesOutWhatChangedNothingAndWhatCameAfterTheBest) {
  const Prefix prefix = BestPrefix(Evaluate(Switches(), {2, 9, 1, 4, 0}), kInitial);
  EXPECT_EQ(prefix.value, kInitial - 2);
  EXPECT_EQ(prefix.sequence, (Sequence{2, 1, 4}));
}

TEST(Usable, LeavesOutUnknownActionsAndWhatIsTooLong) {
  SearchProblem problem = Switches().problem;
  problem.longest = 3;
  EXPECT_EQ(Usable(problem, {1, 12, 2, 3, 4}), (Sequence{1, 2, 3}));
}

TEST(Rng, IsTheSameEverywhere) {
  // SplitMix64's published first value for seed 0.
  EXPECT_EQ(Rng(0).Next(), 0xe220a8397b1dcdafull);
}

}  // namespace
}  // namespace hone
