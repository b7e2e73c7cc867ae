// What every chooser promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>

#include "core/rng.h"
#include "search/choices/choices.h"

namespace hone::choices {
namespace {

// Separable: each variable has a gain or a loss of its own. With noise, if so wished.
class Objective {
 public:
  Objective(size_t variables, uint64_t seed) : rng_(seed) {
    for (size_t i = 0; i < variables; ++i) {
      Variable variable;
      variable.name = std::to_string(i);
      variable.group = static_cast<int>(i % 3);
      variable.family = static_cast<int>(i % 7);
      variable.choices = 2 + static_cast<uint32_t>(i % 3);
      variable.stock = static_cast<uint32_t>(i % 2);
      variable.weight = 0.1 + rng_.Unit();
      problem.variables.push_back(variable);
      std::vector<double>& effects = effects_.emplace_back();
      for (uint32_t choice = 0; choice < variable.choices; ++choice) {
        // Most choices are for the worse, as in real programs.
        effects.push_back(choice == variable.stock ? 0 : 0.1 * rng_.Unit() - 0.03);
      }
    }
  }

  double True(const Assignment& assignment) const {
    double sum = 0;
    for (size_t i = 0; i < assignment.size(); ++i) sum += effects_[i][assignment[i]];
    return sum;
  }
  double Noisy(const Assignment& assignment) {
    return True(assignment) + 0.002 * (rng_.Unit() - 0.5);
  }

  Problem problem;

 private:
  Rng rng_;
  std::vector<std::vector<double>> effects_;
};

// Of as many variables, each as `set` has it.
Problem MakeProblem(int count, const std::function<void(int, Variable&)>& set) {
  Problem problem;
  for (int i = 0; i < count; ++i) {
    Variable variable;
    variable.name = std::to_string(i);
    set(i, variable);
    problem.variables.push_back(variable);
  }
  return problem;
}

bool AsksInItsOwnOrder(const ChooserInfo& info) {
  return info.name == "random" || info.name == "exhaustive" || info.name == "singles";
}

class EachChooser : public testing::TestWithParam<ChooserInfo> {
 protected:
  // The true value of what it thinks best.
  static double Search(const ChooserInfo& info, Objective objective, uint64_t seed, int trials) {
    const auto chooser = info.make(objective.problem, seed);
    double best = 1e9;
    Assignment assignment;
    for (int i = 0; i < trials; ++i) {
      const std::vector<Assignment> asked = chooser->Ask(1);
      if (asked.empty()) break;
      const double value = objective.Noisy(asked[0]);
      if (value < best) {
        best = value;
        assignment = asked[0];
      }
      chooser->Tell({asked[0], value, false});
    }
    return objective.True(assignment);
  }
};

TEST_P(EachChooser, AsksStockFirstThenStarts) {
  Objective objective(6, 1);
  Assignment start = StockAssignment(objective.problem.variables);
  start[2] = (start[2] + 1) % objective.problem.variables[2].choices;
  objective.problem.starts = {start};
  const auto chooser = GetParam().make(objective.problem, 1);
  const std::vector<Assignment> asked = chooser->Ask(2);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0], StockAssignment(objective.problem.variables));
  EXPECT_EQ(asked[1], start);
}

TEST_P(EachChooser, SameSeedSameAsks) {
  std::vector<std::vector<Assignment>> runs;
  for (int run = 0; run < 2; ++run) {
    Objective objective(12, 2);
    const auto chooser = GetParam().make(objective.problem, 5);
    std::vector<Assignment>& all = runs.emplace_back();
    for (int i = 0; i < 60; ++i) {
      for (const Assignment& assignment : chooser->Ask(2, i % 4 - 1)) {
        all.push_back(assignment);
        chooser->Tell({assignment, objective.Noisy(assignment), false});
      }
    }
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_GE(runs[0].size(), 100u);
}

TEST_P(EachChooser, AsksEverythingOnceAndLegally) {
  Objective objective(5, 3);
  size_t all = 1;
  for (const Variable& variable : objective.problem.variables) all *= variable.choices;
  const auto chooser = GetParam().make(objective.problem, 1);
  std::set<Assignment> seen;
  for (size_t i = 0; i < 2 * all; ++i) {
    const std::vector<Assignment> asked = chooser->Ask(3);
    if (asked.empty()) break;
    for (const Assignment& assignment : asked) {
      ASSERT_EQ(assignment.size(), objective.problem.variables.size());
      for (size_t j = 0; j < assignment.size(); ++j) {
        ASSERT_LT(assignment[j], objective.problem.variables[j].choices);
      }
      EXPECT_TRUE(seen.insert(assignment).second) << "asked twice";
      chooser->Tell({assignment, objective.True(assignment), false});
    }
  }
  EXPECT_EQ(seen.size(), all);
  EXPECT_TRUE(chooser->Ask(1).empty());
}

// Each of many matters little; together they are tried before the heaviest alone.
TEST_P(EachChooser, FamiliesAreChangedTogetherEarly) {
  if (AsksInItsOwnOrder(GetParam())) GTEST_SKIP() << "it asks in its own order";
  const Problem problem = MakeProblem(12, [](int i, Variable& variable) {
    variable.family = i == 0 ? 1 : 2;
    variable.weight = i == 0 ? 1 : 0.2;
  });
  const auto chooser = GetParam().make(problem, 1);
  Assignment together(12, 1);
  together[0] = 0;
  bool asked_together = false;
  for (int i = 0; i < 3; ++i) {
    for (const Assignment& asked : chooser->Ask(1)) {
      asked_together = asked_together || asked == together;
      chooser->Tell({asked, asked == StockAssignment(problem.variables) ? 0.0 : 0.1, false});
    }
  }
  EXPECT_TRUE(asked_together);
}

TEST_P(EachChooser, WhatComesFirstIsAskedWhicheverGroupIsAskedAbout) {
  if (AsksInItsOwnOrder(GetParam())) GTEST_SKIP() << "it asks in its own order";
  const Problem problem = MakeProblem(12, [](int i, Variable& variable) {
    variable.group = i < 10 ? 1 : 2;
    variable.family = i;
    variable.weight = i < 10 ? 1 : 0.1;
    variable.first = i >= 10;
  });
  const auto chooser = GetParam().make(problem, 1);
  const Assignment stock = StockAssignment(problem.variables);
  EXPECT_EQ(chooser->Ask(1, 1), std::vector<Assignment>{stock});
  for (size_t i : {10, 11}) {
    Assignment alone = stock;
    alone[i] = 1;
    EXPECT_EQ(chooser->Ask(1, 1), std::vector<Assignment>{alone});
  }
}

// A start that is better than stock may leave it nothing to do.
TEST_P(EachChooser, WhatComesFirstIsAskedAloneAndOnTopOfTheBestIfItWasGood) {
  if (AsksInItsOwnOrder(GetParam())) GTEST_SKIP() << "it asks in its own order";
  Problem problem = MakeProblem(12, [](int i, Variable& variable) {
    variable.family = i;
    variable.first = i < 2;
  });
  const Assignment stock = StockAssignment(problem.variables);
  Assignment start = stock;
  start[5] = 1;
  problem.starts = {start};
  const auto chooser = GetParam().make(problem, 1);
  EXPECT_EQ(chooser->Ask(2), (std::vector<Assignment>{stock, start}));
  chooser->Tell({stock, 0, false});
  chooser->Tell({start, -0.1, false});
  for (size_t i : {0, 1}) {
    Assignment alone = stock;
    alone[i] = 1;
    ASSERT_EQ(chooser->Ask(1), std::vector<Assignment>{alone});
    chooser->Tell({alone, i == 0 ? -0.05 : 0.05, false});
    if (i == 1) continue;  // was no good
    Assignment both = start;
    both[i] = 1;
    ASSERT_EQ(chooser->Ask(1), std::vector<Assignment>{both});
    chooser->Tell({both, -0.15, false});
  }
}

TEST_P(EachChooser, SinglesAndLeapsTakeTurns) {
  if (AsksInItsOwnOrder(GetParam())) GTEST_SKIP() << "it asks in its own order";
  Problem problem = MakeProblem(60, [](int i, Variable& variable) { variable.family = i; });
  problem.singles = 10;
  const auto chooser = GetParam().make(problem, 1);
  const Assignment stock = chooser->Ask(1)[0];
  chooser->Tell({stock, 0, false});
  int64_t most = 0;
  for (int i = 0; i < 19; ++i) {
    const Assignment asked = chooser->Ask(1)[0];
    chooser->Tell({asked, 0.1, false});  // stock stays the best
    const auto changed = std::inner_product(asked.begin(), asked.end(), stock.begin(), int64_t{0},
                                            std::plus<>(), std::not_equal_to<>());
    if (i % 2 == 0) {
      EXPECT_EQ(changed, 1) << i;
    }
    most = std::max(most, changed);
  }
  EXPECT_GE(most, 5);
}

TEST_P(EachChooser, WhatPromisesMostComesFirstWhateverItsGroup) {
  if (AsksInItsOwnOrder(GetParam())) GTEST_SKIP() << "it asks in its own order";
  Problem problem = MakeProblem(40, [](int i, Variable& variable) {
    variable.group = i % 4;
    variable.family = i;
    variable.weight = 1.0 / (1 + i);
    variable.first = i == 20;
  });
  const std::vector<size_t> promising = {31, 7, 38};
  problem.promise = [&](const std::vector<size_t>& variables, uint32_t choice) {
    const auto at = std::find(promising.begin(), promising.end(), variables.front());
    return choice == 1 && at != promising.end()
               ? 0.2 / static_cast<double>(1 + (at - promising.begin()))
               : 0.001;
  };
  const auto chooser = GetParam().make(problem, 1);
  const Assignment stock = chooser->Ask(1, 0)[0];
  chooser->Tell({stock, 0, false});
  Assignment best = stock;
  double value = 0;
  for (size_t i : promising) {
    best[i] = 1;
    ASSERT_EQ(chooser->Ask(1, 0), std::vector<Assignment>{best}) << "on top of the best so far";
    chooser->Tell({best, value -= 0.1, false});
  }
}

TEST_P(EachChooser, NothingToChoose) {
  const auto chooser = GetParam().make(Problem(), 1);
  const std::vector<Assignment> asked = chooser->Ask(3);
  ASSERT_EQ(asked.size(), 1u);
  chooser->Tell({asked[0], 0, false});
  EXPECT_TRUE(chooser->Ask(1).empty());
}

TEST_P(EachChooser, GoesOnWhereEverythingFails) {
  Objective objective(10, 4);
  const auto chooser = GetParam().make(objective.problem, 1);
  for (int i = 0; i < 100; ++i) {
    const std::vector<Assignment> asked = chooser->Ask(1);
    ASSERT_EQ(asked.size(), 1u);
    chooser->Tell({asked[0], 0, true});
  }
}

TEST_P(EachChooser, IsNoWorseThanRandomOnASeparableObjective) {
  if (GetParam().name == "random") GTEST_SKIP() << "is what the others are compared with";
  // What it is for: a space that the trials exhaust.
  const size_t variables = GetParam().name == "exhaustive" ? 4 : 30;
  double own = 0;
  double by_random = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Objective objective(variables, seed);
    own += Search(GetParam(), objective, seed, 200);
    by_random += Search(*FindChooser("random"), objective, seed, 200);
  }
  EXPECT_LE(own, by_random + 0.01);
}

INSTANTIATE_TEST_SUITE_P(Choosers, EachChooser, testing::ValuesIn(Choosers()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::choices
