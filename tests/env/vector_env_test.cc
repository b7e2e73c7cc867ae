#include "env/vector_env.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/programs.h"

namespace hone {
namespace {

using testing::ReadData;

std::shared_ptr<Session> MustOpen(EnvOptions options, int workers = 1) {
  std::vector<ProgramSource> sources;
  for (const char* name : {"kmeans/jax010_kmeans_while.hlo", "misc/jax010_int8_mlp_fwd.hlo"}) {
    sources.push_back({name, ReadData(name)});
  }
  PoolOptions pool;
  pool.workers = workers;
  auto session = Session::Open(std::move(sources), options, pool);
  EXPECT_TRUE(session);
  return *session;
}

// All that came of `steps` random steps of four environments.
std::vector<double> LogOf(int workers, int steps, Autoreset autoreset) {
  EnvOptions options;
  options.traj_limit = 6;
  options.schedule = Schedule::kRandom;
  VectorEnv envs(MustOpen(options, workers), 4, autoreset);
  const std::vector<std::optional<uint64_t>> seeds{1, 2, 3, 4};
  EXPECT_TRUE(envs.Reset(seeds));
  Rng rng(9);
  std::vector<double> log;
  for (int step = 0; step < steps; ++step) {
    std::vector<int64_t> actions;
    for (size_t i = 0; i < envs.size(); ++i) {
      actions.push_back(static_cast<int64_t>(rng.Below(envs.session()->actions().size())));
    }
    const Status stepped = envs.Step(actions);
    EXPECT_TRUE(stepped) << stepped.error().message;
    for (size_t i = 0; i < envs.size(); ++i) {
      const VectorEnv::Slot& slot = envs.slot(i);
      log.insert(log.end(),
                 {slot.outcome.reward, static_cast<double>(slot.env.view().metrics.op_count),
                  static_cast<double>(slot.env.view().fingerprint.low),
                  static_cast<double>(slot.outcome.terminated + 2 * slot.outcome.truncated)});
      for (const bool open : slot.env.ActionMask()) log.push_back(open);
    }
  }
  return log;
}

TEST(VectorEnv, TheNumberOfWorkersChangesNothing) {
  EXPECT_EQ(LogOf(1, 30, Autoreset::kNextStep), LogOf(2, 30, Autoreset::kNextStep));
  EXPECT_EQ(LogOf(1, 30, Autoreset::kSameStep), LogOf(3, 30, Autoreset::kSameStep));
}

// The same of environments over rewrites.
std::vector<double> RewritesLogOf(int workers, RewriteMode mode, Autoreset autoreset) {
  EnvOptions options;
  options.traj_limit = 6;
  options.schedule = Schedule::kRandom;
  const auto session = MustOpen(options, workers);
  RewritesEnvOptions rewriting;
  rewriting.pipeline = "call-inliner,algsimp,dce";
  rewriting.mode = mode;
  rewriting.max_sites = 16;
  auto made = RewritesEnv::MakeMany(session, rewriting, 4);
  EXPECT_TRUE(made);
  RewritesVectorEnv envs(session, *std::move(made), autoreset);
  const std::vector<std::optional<uint64_t>> seeds{1, 2, 3, 4};
  EXPECT_TRUE(envs.Reset(seeds));
  Rng rng(9);
  std::vector<double> log;
  for (int step = 0; step < 20; ++step) {
    std::vector<RewriteAction> actions;
    for (size_t i = 0; i < envs.size(); ++i) {
      if (mode == RewriteMode::kSites) {
        actions.emplace_back(static_cast<int64_t>(rng.Below(17)));
      } else {
        std::vector<bool> accept;
        for (int site = 0; site < 16; ++site) accept.push_back(rng.Below(2) == 1);
        actions.emplace_back(std::move(accept));
      }
    }
    const Status stepped = envs.Step(actions);
    EXPECT_TRUE(stepped) << stepped.error().message;
    for (size_t i = 0; i < envs.size(); ++i) {
      const RewritesVectorEnv::Slot& slot = envs.slot(i);
      log.insert(log.end(),
                 {slot.outcome.reward, static_cast<double>(slot.env.view().fingerprint.low),
                  static_cast<double>(slot.env.position()),
                  static_cast<double>(slot.final_view.listing->sites.size()),
                  static_cast<double>(slot.outcome.terminated + 2 * slot.outcome.truncated),
                  static_cast<double>(slot.outcome.looked)});
      for (const bool open : slot.env.ActionMask()) log.push_back(open);
      for (const float feature : slot.env.SiteFeatures()) log.push_back(feature);
    }
  }
  return log;
}

TEST(VectorEnv, TheNumberOfWorkersChangesNothingOfRewrites) {
  using enum RewriteMode;
  EXPECT_EQ(RewritesLogOf(1, kSites, Autoreset::kNextStep),
            RewritesLogOf(2, kSites, Autoreset::kNextStep));
  EXPECT_EQ(RewritesLogOf(1, kBatch, Autoreset::kSameStep),
            RewritesLogOf(3, kBatch, Autoreset::kSameStep));
}

TEST(VectorEnv, ASavedEpisodeGoesOnInAnotherSession) {
  EnvOptions options;
  options.schedule = Schedule::kRandom;
  PassOrderEnv env(MustOpen(options));
  ASSERT_TRUE(env.Reset(4));
  for (const int64_t action : {1, 20, 33}) ASSERT_TRUE(env.Step(action));
  VectorEnv envs(MustOpen(options), 2, Autoreset::kDisabled);
  ASSERT_TRUE(envs.env(1).Restore(env.Save()));
  EXPECT_EQ(envs.slot(1).env.view().fingerprint, env.view().fingerprint);
  EXPECT_EQ(envs.slot(1).env.view().actions, env.view().actions);
  EXPECT_EQ(envs.slot(1).env.schedule_state(), env.schedule_state());
  auto saved = env.Save();
  saved.actions.push_back(100000);
  EXPECT_FALSE(envs.env(0).Restore(saved));
}

TEST(VectorEnv, ResetsAtTheNextStep) {
  EnvOptions options;
  options.traj_limit = 2;
  VectorEnv envs(MustOpen(options), 2, Autoreset::kNextStep);
  ASSERT_TRUE(envs.Reset({}));
  const std::vector<int64_t> actions{0, 0};
  for (const bool over : {false, true}) {
    ASSERT_TRUE(envs.Step(actions));
    EXPECT_EQ(envs.slot(0).outcome.truncated, over);
    EXPECT_FALSE(envs.slot(0).was_reset);
  }
  EXPECT_EQ(envs.slot(0).env.view().actions.size(), 2u);
  ASSERT_TRUE(envs.Step(actions));
  EXPECT_TRUE(envs.slot(0).was_reset);
  EXPECT_EQ(envs.slot(0).outcome.reward, 0);
  EXPECT_FALSE(envs.slot(0).outcome.truncated);
  EXPECT_TRUE(envs.slot(0).env.view().actions.empty());
}

TEST(VectorEnv, ResetsInTheSameStepAndKeepsTheLastView) {
  EnvOptions options;
  options.traj_limit = 2;
  VectorEnv envs(MustOpen(options), 2, Autoreset::kSameStep);
  ASSERT_TRUE(envs.Reset({}));
  const std::vector<int64_t> actions{0, 0};
  ASSERT_TRUE(envs.Step(actions));
  EXPECT_FALSE(envs.slot(1).has_final);
  ASSERT_TRUE(envs.Step(actions));
  EXPECT_TRUE(envs.slot(1).has_final);
  EXPECT_TRUE(envs.slot(1).outcome.truncated);
  EXPECT_EQ(envs.slot(1).final_view.actions.size(), 2u);
  EXPECT_TRUE(envs.slot(1).env.view().actions.empty());
  ASSERT_TRUE(envs.Step(actions));
  EXPECT_FALSE(envs.slot(1).has_final);
}

TEST(VectorEnv, WithoutAutoresetTheCallerResetsThoseOfAMask) {
  EnvOptions options;
  options.traj_limit = 1;
  VectorEnv envs(MustOpen(options), 2, Autoreset::kDisabled);
  ASSERT_TRUE(envs.Reset({}));
  const std::vector<int64_t> actions{0, 0};
  ASSERT_TRUE(envs.Step(actions));
  EXPECT_FALSE(envs.Step(actions)) << "the episodes are over";
  const bool mask[] = {false, true};
  ASSERT_TRUE(envs.Reset({}, mask));
  EXPECT_FALSE(envs.slot(0).env.running());
  EXPECT_TRUE(envs.slot(1).env.running());
}

TEST(VectorEnv, SendAndReceiveLetEachGoOn) {
  EnvOptions options;
  options.traj_limit = 5;
  VectorEnv envs(MustOpen(options, 2), 4, Autoreset::kNextStep);
  for (size_t i = 0; i < 4; ++i) envs.SendReset(i, i);
  std::vector<int> steps(4);
  int received = 0;
  Rng rng(4);
  // The second worker starts meanwhile: nobody waits for it.
  while (received < 100 ||
         (received < 100'000 && *std::min_element(steps.begin(), steps.end()) == 0)) {
    const std::vector<size_t> done = envs.Receive(1);
    ASSERT_FALSE(done.empty());
    for (size_t i : done) {
      ++received;
      ++steps[i];
      ASSERT_TRUE(envs.slot(i).error);
      envs.Send(i, static_cast<int64_t>(rng.Below(envs.session()->actions().size())));
    }
  }
  for (int count : steps) EXPECT_GT(count, 0);
}

TEST(VectorEnv, ABadActionIsAnErrorAndTheOthersHaveStepped) {
  VectorEnv envs(MustOpen({}), 2, Autoreset::kNextStep);
  ASSERT_TRUE(envs.Reset({}));
  const std::vector<int64_t> actions{100000, 0};
  const Status stepped = envs.Step(actions);
  ASSERT_FALSE(stepped);
  EXPECT_EQ(stepped.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(envs.slot(0).env.view().actions.size(), 0u);
  EXPECT_EQ(envs.slot(1).env.view().actions.size(), 1u);
  EXPECT_FALSE(envs.Step(std::vector<int64_t>{0}));
}

TEST(VectorEnv, AnInterruptEndsTheWaiting) {
  VectorEnv envs(MustOpen({}), 1, Autoreset::kNextStep);
  bool asked = false;
  envs.set_interrupted([&] { return asked = true; });
  // Loading the program and running on it takes longer than one look.
  const Status reset = envs.Reset({});
  EXPECT_TRUE(reset || (asked && reset.error().code == ErrorCode::kInterrupted));
}

}  // namespace
}  // namespace hone
