// Environments over schedules, alone and many together.
#include "loops/loops_env.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/rng.h"
#include "loops/estimate.h"
#include "loops/tasks.h"

namespace hone::loops {
namespace {

LoopsEnvOptions Options(int workers = 1) {
  LoopsEnvOptions options;
  for (const KnownTask& task : DrawTasks(10, 5)) options.tasks.push_back(task.text);
  options.estimate = true;
  options.machine = kEstimatedMachine;
  options.workers = workers;
  return options;
}

std::shared_ptr<LoopsSession> MustOpen(const LoopsEnvOptions& options) {
  const auto session = LoopsSession::Open(options);
  EXPECT_TRUE(session) << session.error().message;
  return *session;
}

int64_t FirstLegal(const LoopsEnv& env) {
  const std::vector<bool> mask = env.ActionMask();
  return std::find(mask.begin(), mask.end(), true) - mask.begin();
}

TEST(LoopsEnv, GoesOnWhereAnotherWas) {
  const auto session = MustOpen(Options());
  LoopsEnv env(session), other(session);
  for (size_t task = 0; task < env.tasks(); ++task) {
    ASSERT_TRUE(env.Reset({}, task));
    ASSERT_TRUE(env.Step(FirstLegal(env)));
    if (!env.running()) continue;
    ASSERT_TRUE(other.Resume(env.episode()));
    EXPECT_EQ(other.ActionMask(), env.ActionMask());
    EXPECT_EQ(other.Look().states, env.Look().states);
    EXPECT_EQ(other.Look().history, env.Look().history);
    while (env.running()) {
      const int64_t action = FirstLegal(env);
      const auto a = env.Step(action), b = other.Step(action);
      ASSERT_TRUE(a && b);
      EXPECT_EQ(a->reward, b->reward);
      EXPECT_EQ(a->terminated, b->terminated);
      EXPECT_EQ(a->truncated, b->truncated);
    }
    EXPECT_EQ(other.speedup(), env.speedup());
  }
  LoopsEpisode wrong = env.episode();
  wrong.task = env.tasks();
  EXPECT_FALSE(other.Resume(wrong));
  wrong = env.episode();
  wrong.schedule = "nowhere vectorize\n";
  EXPECT_FALSE(other.Resume(wrong));
}

TEST(LoopsEnv, AForkGoesOnByItself) {
  LoopsEnv env(MustOpen(Options()));
  ASSERT_TRUE(env.Reset(1, {}));
  LoopsEnv fork = env.Fork();
  ASSERT_TRUE(env.Step(FirstLegal(env)));
  EXPECT_EQ(fork.scheduled().schedule().size(), 0u);
  EXPECT_EQ(env.scheduled().schedule().size(), 1u);
}

using Envs = VectorOf<LoopsEnv>;

Envs Many(const LoopsEnvOptions& options, size_t count, Autoreset autoreset) {
  const auto session = MustOpen(options);
  std::vector<LoopsEnv> envs;
  for (size_t i = 0; i < count; ++i) envs.emplace_back(session, i);
  return Envs(session, std::move(envs), autoreset);
}

// All that came of random legal steps of five environments.
std::vector<std::pair<double, std::string>> LogOf(int workers, Autoreset autoreset, bool product) {
  LoopsEnvOptions options = Options(workers);
  options.product = product;
  Envs envs = Many(options, 5, autoreset);
  const std::vector<std::optional<uint64_t>> seeds{7, 8, 9, 10, 11};
  EXPECT_TRUE(envs.Reset(seeds));
  Rng rng(3);
  std::vector<std::pair<double, std::string>> log;
  for (int step = 0; step < 40; ++step) {
    std::vector<LoopsAction> actions;
    for (size_t i = 0; i < envs.size(); ++i) {
      const LoopsEnv& env = envs.slot(i).env;
      if (product) {
        std::vector<int64_t> action = {static_cast<int64_t>(rng.Below(env.sites())),
                                       static_cast<int64_t>(rng.Below(kStepKinds + 1))};
        for (size_t l = 0; l < kSeenLoops; ++l) {
          action.push_back(static_cast<int64_t>(rng.Below(LoopsEnv::kProductChoices)));
        }
        actions.emplace_back(action);
        continue;
      }
      int64_t action = static_cast<int64_t>(rng.Below(env.actions()));
      while (!env.Seen().mask[static_cast<size_t>(action)]) {
        action = (action + 1) % static_cast<int64_t>(env.actions());
      }
      actions.emplace_back(action);
    }
    const Status stepped = envs.Step(actions);
    EXPECT_TRUE(stepped) << stepped.error().message;
    for (size_t i = 0; i < envs.size(); ++i) {
      const Envs::Slot& slot = envs.slot(i);
      const LoopsView& view = slot.env.Seen();
      EXPECT_EQ(view.mask, product ? slot.env.ProductMask() : slot.env.ActionMask());
      log.emplace_back(slot.outcome.reward, view.schedule);
      log.emplace_back(view.speedup, slot.outcome.error);
      log.emplace_back(slot.outcome.terminated + 2 * slot.outcome.truncated + 4 * slot.was_reset,
                       slot.has_final ? slot.final_view.schedule : "");
    }
  }
  return log;
}

TEST(LoopsEnvs, TheNumberOfWorkersChangesNothing) {
  for (const bool product : {false, true}) {
    const auto log = LogOf(1, Autoreset::kNextStep, product);
    EXPECT_EQ(log, LogOf(3, Autoreset::kNextStep, product));
    EXPECT_EQ(LogOf(1, Autoreset::kSameStep, product), LogOf(2, Autoreset::kSameStep, product));
  }
}

TEST(LoopsEnvs, BeginWithTheTaskOfTheirNumberOrTheirSeed) {
  Envs envs = Many(Options(2), 3, Autoreset::kDisabled);
  ASSERT_TRUE(envs.Reset({}));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(envs.slot(i).env.Seen().task, i);
  ASSERT_TRUE(envs.Reset({}));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(envs.slot(i).env.Seen().task, i + 1);
  const std::vector<std::optional<uint64_t>> seeds{4, 25, {}};
  ASSERT_TRUE(envs.Reset(seeds));
  EXPECT_EQ(envs.slot(0).env.Seen().task, 4u);
  EXPECT_EQ(envs.slot(1).env.Seen().task, 5u);
  EXPECT_EQ(envs.slot(2).env.Seen().task, 4u);
  ASSERT_TRUE(envs.Reset({}, {}, 6));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(envs.slot(i).env.Seen().task, 6u);
  EXPECT_FALSE(envs.Reset({}, {}, 10));
}

TEST(LoopsEnvs, AnActionThatThereIsNotIsAnErrorOfItsEnvironment) {
  Envs envs = Many(Options(2), 2, Autoreset::kDisabled);
  ASSERT_TRUE(envs.Reset({}));
  const std::vector<LoopsAction> actions = {int64_t{-1}, FirstLegal(envs.slot(1).env)};
  EXPECT_FALSE(envs.Step(actions));
  EXPECT_FALSE(envs.slot(0).error);
  EXPECT_TRUE(envs.slot(1).error);
  EXPECT_TRUE(envs.slot(1).outcome.changed);
}

TEST(LoopsSession, BadOptionsAreErrors) {
  EXPECT_FALSE(LoopsSession::Open({}));
  LoopsEnvOptions options = Options(0);
  EXPECT_FALSE(LoopsSession::Open(options));
  options = Options();
  options.steps_a_nest = 0;
  EXPECT_FALSE(LoopsSession::Open(options));
  options = Options();
  options.tasks[1] = "task t\n";
  EXPECT_FALSE(LoopsSession::Open(options));
}

}  // namespace
}  // namespace hone::loops
