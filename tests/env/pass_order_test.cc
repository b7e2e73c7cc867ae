#include "env/pass_order.h"

#include <gtest/gtest.h>

#include "support/programs.h"

namespace hone {
namespace {

using testing::MustLoad;
using testing::ReadData;
using testing::SharedPool;

TEST(PassOrder, TheDefaultOrderIsTheCompilersAndMakesTheProgramSmaller) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  const auto actions = ActionSet(pool.passes(), "simplify");
  ASSERT_TRUE(actions);
  const auto order = DefaultOrder(pool, program, *actions);
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_GT(order->size(), 20u);
  PassOrder problem(pool, program, Objective::kOpCount);
  const std::vector<std::vector<PassId>> sequences{*order};
  const auto steps = std::move(problem.Evaluate(sequences)[0]);
  ASSERT_TRUE(steps);
  EXPECT_LT(steps->back().metrics.op_count, program.metrics.op_count);
}

TEST(PassOrder, WhatIsKnownIsLookedUpAndTheSame) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("kmeans/jax010_kmeans_while.hlo"));
  const auto actions = *ActionSet(pool.passes(), "simplify");
  PassOrder problem(pool, program, Objective::kFlops);
  const std::vector<std::vector<PassId>> sequences{{actions[0], actions[1], actions[2]},
                                                   {actions[2], actions[0]}};
  const auto first = problem.Evaluate(sequences);
  const int64_t run = pool.timing().passes_run;
  const auto second = problem.Evaluate(sequences);
  EXPECT_EQ(pool.timing().passes_run, run);
  EXPECT_EQ(problem.steps(), 10);
  for (size_t i = 0; i < sequences.size(); ++i) {
    ASSERT_TRUE(first[i] && second[i]);
    ASSERT_EQ(first[i]->size(), second[i]->size());
    for (size_t j = 0; j < first[i]->size(); ++j) {
      EXPECT_EQ((*first[i])[j].state, (*second[i])[j].state);
      EXPECT_TRUE((*second[i])[j].looked);
      EXPECT_EQ((*first[i])[j].metrics.flops, (*second[i])[j].metrics.flops);
      EXPECT_GE((*first[i])[j].metrics.flops, 0);
    }
    const auto replayed = problem.Replay(sequences[i]);
    ASSERT_TRUE(replayed);
    EXPECT_EQ(replayed->back().state, first[i]->back().state);
  }
}

TEST(PassOrder, WhatTheVerifierRejectsHasFailedOnceItIsAsked) {
  Pool& pool = SharedPool();
  const ProgramInfo program =
      MustLoad(pool, testing::ReadTestFile("xla_findings/algsimp-vector_dot_of_concatenation.hlo"));
  const PassId algsimp = testing::PassNamed(pool, "algsimp");
  const PassId dce = testing::PassNamed(pool, "dce");
  PassOrder problem(pool, program, Objective::kOpCount);
  const std::vector<std::vector<PassId>> sequences{{algsimp, dce}};
  const auto believed = std::move(problem.Evaluate(sequences)[0]);
  ASSERT_TRUE(believed);
  ASSERT_TRUE((*believed)[0].changed);
  const int64_t evaluated = problem.evaluated();
  EXPECT_FALSE(problem.AreWellFormed(*believed));
  EXPECT_EQ(problem.failures().size(), 1u);
  const auto again = std::move(problem.Evaluate(sequences)[0]);
  ASSERT_TRUE(again);
  EXPECT_FALSE((*again)[0].changed);
  EXPECT_NE((*again)[0].failure.find("HLO verifier"), std::string::npos) << (*again)[0].failure;
  EXPECT_EQ((*again)[1].state, program.fingerprint);
  EXPECT_EQ(problem.evaluated(), evaluated + 1);  // dce of the program itself is new
  EXPECT_TRUE(problem.AreWellFormed(*again));
}

TEST(PassOrder, TheVerifierLooksAtEachStateOnce) {
  Pool& pool = SharedPool();
  const ProgramInfo program = MustLoad(pool, ReadData("kmeans/jax010_kmeans_while.hlo"));
  const auto order = *DefaultOrder(pool, program, *ActionSet(pool.passes(), "simplify"));
  PassOrder problem(pool, program, Objective::kOpCount);
  const std::vector<std::vector<PassId>> sequences{order};
  const auto steps = std::move(problem.Evaluate(sequences)[0]);
  ASSERT_TRUE(steps);
  EXPECT_TRUE(problem.AreWellFormed(*steps));
  const int64_t run = pool.timing().passes_run;
  EXPECT_TRUE(problem.AreWellFormed(*steps));
  EXPECT_EQ(pool.timing().passes_run, run);
}

TEST(PassOrder, AnUnknownActionSetIsAnError) {
  EXPECT_FALSE(ActionSet(SharedPool().passes(), "simple"));
}

}  // namespace
}  // namespace hone
