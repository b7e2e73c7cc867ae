#include "env/pass_order_env.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "support/programs.h"

namespace hone {
namespace {

using testing::ReadData;

constexpr const char* kSmall = "kmeans/jax010_kmeans_while.hlo";
constexpr const char* kOther = "misc/jax010_int8_mlp_fwd.hlo";

std::shared_ptr<Session> MustOpen(const std::vector<std::string>& programs,
                                  const EnvOptions& options = {}, PoolOptions pool = {}) {
  std::vector<ProgramSource> sources;
  for (const std::string& program : programs) sources.push_back({program, ReadData(program)});
  auto session = Session::Open(std::move(sources), options, pool);
  EXPECT_TRUE(session) << session.error().message;
  return *session;
}

Outcome MustStep(PassOrderEnv& env, int64_t action) {
  const auto outcome = env.Step(action);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return *outcome;
}

int64_t ActionNamed(const Session& session, const std::string& name) {
  for (size_t i = 0; i < session.actions().size(); ++i) {
    if (session.pool().passes()[session.actions()[i]].name == name) return static_cast<int64_t>(i);
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(PassOrderEnv, RunsAnEpisodeOfTrajLimitSteps) {
  EnvOptions options;
  options.traj_limit = 7;
  PassOrderEnv env(MustOpen({kSmall}, options));
  ASSERT_TRUE(env.Reset(1));
  const int64_t initial = env.view().metrics.op_count;
  double sum = 0;
  Rng rng(1);
  for (int i = 0; i < 7; ++i) {
    EXPECT_TRUE(env.running());
    const Outcome outcome =
        MustStep(env, static_cast<int64_t>(rng.Below(env.session()->actions().size())));
    sum += outcome.reward;
    EXPECT_FALSE(outcome.terminated);
    EXPECT_EQ(outcome.truncated, i == 6);
  }
  EXPECT_FALSE(env.running());
  EXPECT_LT(env.view().metrics.op_count, initial);
  // The rewards of an episode add up to what it saved.
  EXPECT_NEAR(sum, static_cast<double>(initial - env.view().metrics.op_count) / initial, 1e-12);
  EXPECT_FALSE(env.Step(0)) << "the episode is over";
}

TEST(PassOrderEnv, TheObservationIsThatOfTheStateHoweverItWasReached) {
  EnvOptions options;
  options.observation.cost = true;
  const auto session = MustOpen({kSmall}, options);
  PassOrderEnv env(session);
  ASSERT_TRUE(env.Reset());
  for (const char* pass : {"call-inliner", "algsimp", "dce", "cse"}) {
    MustStep(env, ActionNamed(*session, pass));
  }
  // The oracle: the same passes from a fresh copy, described in full.
  const auto graph = session->pool().Describe(env.view().state);
  ASSERT_TRUE(graph);
  std::vector<int32_t> expected(session->pool().opcodes().size());
  int64_t all = 0;
  for (const ComputationInfo& computation : graph->computations) {
    for (const InstructionInfo& instruction : computation.instructions) {
      const auto& names = session->pool().opcodes();
      const auto found = std::find(names.begin(), names.end(), instruction.opcode);
      ASSERT_NE(found, names.end());
      ++expected[static_cast<size_t>(found - names.begin())];
      ++all;
    }
  }
  std::vector<int32_t> counts(expected.size());
  WriteOpcodeCounts(env.view(), counts);
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(env.view().metrics.op_count, all);
  EXPECT_EQ(env.view().metrics.computations, static_cast<int32_t>(graph->computations.size()));
  EXPECT_EQ(env.view().metrics.loop_depth, 1);  // k-means iterates
  std::vector<float> shares(expected.size());
  WriteOpcodes(env.view(), shares);
  for (size_t i = 0; i < shares.size(); ++i) {
    EXPECT_FLOAT_EQ(shares[i] * static_cast<float>(env.view().initial_op_count),
                    static_cast<float>(expected[i]));
  }
  const auto measured = session->pool().Measure(env.view().state);
  ASSERT_TRUE(measured);
  EXPECT_EQ(env.view().metrics.flops, measured->flops);
  EXPECT_EQ(env.view().metrics.computations, measured->computations);
  EXPECT_EQ(env.view().metrics.loop_depth, measured->loop_depth);
}

TEST(PassOrderEnv, TheGraphIsTheWholeProgramAsRows) {
  EnvOptions options;
  options.observation.graph = true;
  const auto session = MustOpen({kSmall}, options);
  PassOrderEnv env(session);
  ASSERT_TRUE(env.Reset());
  for (int step = 0; step < 3; ++step) {
    ASSERT_NE(env.view().arrays, nullptr);
    const ProgramArrays& arrays = *env.view().arrays;
    const size_t nodes = arrays.opcode.size();
    EXPECT_EQ(static_cast<int64_t>(nodes), env.view().metrics.op_count);
    EXPECT_EQ(arrays.edge_start.size(), nodes + 1);
    EXPECT_EQ(arrays.dimensions.size(), nodes * kArrayDimensions);
    EXPECT_EQ(arrays.edge_start.back(), static_cast<int32_t>(arrays.edge_source.size()));
    EXPECT_EQ(arrays.edge_kind.size(), arrays.edge_source.size());
    for (size_t i = 0; i < nodes; ++i) {
      ASSERT_LE(arrays.edge_start[i], arrays.edge_start[i + 1]);
      for (int32_t e = arrays.edge_start[i]; e < arrays.edge_start[i + 1]; ++e) {
        EXPECT_LT(arrays.edge_source[static_cast<size_t>(e)], static_cast<int32_t>(i))
            << "operands and callees come first";
      }
    }
    MustStep(env, ActionNamed(*session, step == 0 ? "call-inliner" : "algsimp"));
  }
}

TEST(PassOrderEnv, TheSameSeedAndActionsGiveTheSame) {
  EnvOptions options;
  options.schedule = Schedule::kRandom;
  options.reward.shaping = 1;
  std::vector<Fingerprint> states[2];
  std::vector<double> rewards[2];
  for (int run = 0; run < 2; ++run) {
    PassOrderEnv env(MustOpen({kSmall, kOther}, options));
    Rng rng(3);
    ASSERT_TRUE(env.Reset(17));
    for (int step = 0; step < 100; ++step) {
      if (!env.running()) {
        ASSERT_TRUE(env.Reset());
      }
      rewards[run].push_back(
          MustStep(env, static_cast<int64_t>(rng.Below(env.session()->actions().size()))).reward);
      states[run].push_back(env.view().fingerprint);
    }
  }
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(rewards[0], rewards[1]);
}

TEST(PassOrderEnv, WithTheTableOrWithoutItIsTheSame) {
  std::vector<Fingerprint> states[2];
  for (const bool table : {false, true}) {
    EnvOptions options;
    options.use_table = table;
    options.traj_limit = 12;
    const auto session = MustOpen({kSmall}, options);
    PassOrderEnv env(session);
    for (int episode = 0; episode < 6; ++episode) {
      Rng rng(episode % 3);  // each episode twice: the second time it is known
      ASSERT_TRUE(env.Reset());
      while (env.running()) {
        const Outcome outcome =
            MustStep(env, static_cast<int64_t>(rng.Below(session->actions().size())));
        EXPECT_TRUE(outcome.looked || episode < 3 || !table);
        EXPECT_FALSE(outcome.looked && !table);
        states[table].push_back(env.view().fingerprint);
      }
    }
  }
  EXPECT_EQ(states[0], states[1]);
}

TEST(PassOrderEnv, TheMaskKnowsWhatChangesNothingAndEndsAnEpisodeWithNothingLeft) {
  EnvOptions options;
  options.actions = "dce,tuple-simplifier";
  const auto session = MustOpen({kSmall}, options);
  PassOrderEnv env(session);
  ASSERT_TRUE(env.Reset());
  EXPECT_EQ(env.ActionMask(), std::vector<bool>({true, true}));
  Outcome last;
  std::vector<bool> mask;
  while (env.running()) {
    mask = env.ActionMask();
    const auto open = std::find(mask.begin(), mask.end(), true);
    ASSERT_NE(open, mask.end()) << "an episode with nothing left goes on";
    last = MustStep(env, open - mask.begin());
    EXPECT_TRUE(last.changed || !env.ActionMask()[static_cast<size_t>(open - mask.begin())]);
  }
  EXPECT_TRUE(last.terminated);
  EXPECT_FALSE(last.truncated);
}

TEST(PassOrderEnv, AnEpisodesMaskIsOfWhatItTriedItself) {
  EnvOptions options;
  options.actions = "tuple-simplifier,cse,dce";
  options.episode_mask = true;
  const auto session = MustOpen({kSmall}, options);
  PassOrderEnv env(session, 0, 2);
  PassOrderEnv other(session, 1, 2);
  ASSERT_TRUE(env.Reset(1));
  int64_t idle = -1;
  for (int i = 0; i < 12 && env.running(); ++i) {
    const bool changed = MustStep(env, i % 3).changed;
    if (!changed) idle = i % 3;
    for (size_t action = 0; changed && action < 3; ++action) EXPECT_TRUE(env.ActionMask()[action]);
    EXPECT_EQ(env.ActionMask()[static_cast<size_t>(i % 3)], changed);
  }
  // A fixed point of all three passes ends it.
  EXPECT_FALSE(env.running());
  EXPECT_TRUE(env.outcome().terminated);
  ASSERT_GE(idle, 0);
  // Another environment of the session has tried nothing yet.
  ASSERT_TRUE(other.Reset(1));
  EXPECT_EQ(other.ActionMask(), (std::vector<bool>{true, true, true}));
}

TEST(PassOrderEnv, HeadroomAddsUpToTheRatioToTheDefaultOrder) {
  EnvOptions options;
  options.reward.change = 0;
  options.reward.headroom = 1;
  options.traj_limit = 12;
  PassOrderEnv env(MustOpen({kSmall}, options));
  ASSERT_TRUE(env.Reset(1));
  double sum = 0;
  Rng rng(3);
  while (env.running()) {
    sum += MustStep(env, static_cast<int64_t>(rng.Below(env.session()->actions().size()))).reward;
  }
  const double by_default = env.MakeRecipe().default_value;
  ASSERT_LT(by_default, 0.98 * env.initial_value());
  EXPECT_NEAR(sum, (env.initial_value() - env.value()) / (env.initial_value() - by_default), 1e-9);
  EXPECT_GT(sum, 0);
}

TEST(PassOrderEnv, StopEndsTheEpisode) {
  EnvOptions options;
  options.stop_action = true;
  options.reward.final_default = 1;
  const auto session = MustOpen({kSmall}, options);
  PassOrderEnv env(session);
  ASSERT_TRUE(env.Reset());
  EXPECT_EQ(session->action_count(), static_cast<int64_t>(session->actions().size()) + 1);
  const Outcome outcome = MustStep(env, session->action_count() - 1);
  EXPECT_TRUE(outcome.terminated);
  // Nothing was done, and the default order does something.
  EXPECT_LT(outcome.reward, 0);
  EXPECT_FALSE(env.Step(session->action_count()));
}

TEST(PassOrderEnv, ShapingAddsUpToThePotentialsDifference) {
  EnvOptions options;
  options.reward.change = 0;
  options.reward.shaping = 1;
  options.reward.discount = 1;
  options.traj_limit = 10;
  PassOrderEnv env(MustOpen({kSmall}, options));
  ASSERT_TRUE(env.Reset());
  const Metrics first = env.view().metrics;
  const auto cost = [](const Metrics& m) { return m.flops + 2 * m.transcendentals; };
  double sum = 0;
  Rng rng(2);
  while (env.running()) {
    sum += MustStep(env, static_cast<int64_t>(rng.Below(env.session()->actions().size()))).reward;
  }
  EXPECT_NEAR(sum, (cost(first) - cost(env.view().metrics)) / cost(first), 1e-9);
}

TEST(PassOrderEnv, RunTimeIsMeasuredAtTheEnd) {
  EnvOptions options;
  options.reward.change = 0;
  options.reward.final_run_time = 1;
  options.stop_action = true;
  const auto session = MustOpen({kOther}, options);
  PassOrderEnv env(session);
  ASSERT_TRUE(env.Reset());
  EXPECT_EQ(MustStep(env, 0).reward, 0);
  const Outcome end = MustStep(env, session->action_count() - 1);
  EXPECT_EQ(end.error, "");
  EXPECT_TRUE(session->RunTime(0, env.view().fingerprint));
  EXPECT_LT(std::abs(end.reward), 5) << "the logarithm of a speed-up";
}

TEST(PassOrderEnv, AForkGoesItsOwnWay) {
  const auto session = MustOpen({kSmall});
  PassOrderEnv env(session);
  ASSERT_TRUE(env.Reset());
  MustStep(env, ActionNamed(*session, "call-inliner"));
  const Fingerprint before = env.view().fingerprint;
  PassOrderEnv fork = env.Fork();
  MustStep(fork, ActionNamed(*session, "algsimp"));
  EXPECT_EQ(env.view().fingerprint, before);
  EXPECT_NE(fork.view().fingerprint, before);
  MustStep(env, ActionNamed(*session, "algsimp"));
  EXPECT_EQ(env.view().fingerprint, fork.view().fingerprint);
  EXPECT_EQ(env.view().actions, fork.view().actions);
}

TEST(PassOrderEnv, WhatTheCompilerDoesIsNoError) {
  EnvOptions options;
  options.actions = "dce:call_analysis,algsimp";
  options.reward.failure = 0.5;
  // Programs of tests/xla_findings make XLA abort.
  const std::string file = "xla_findings/dce_call_analysis-same_dead_argument_twice.hlo";
  const auto session = Session::Open({{file, testing::ReadTestFile(file)}}, options, {});
  ASSERT_TRUE(session);
  PassOrderEnv env(*session);
  ASSERT_TRUE(env.Reset());
  const Fingerprint before = env.view().fingerprint;
  const Outcome outcome = MustStep(env, 0);
  EXPECT_NE(outcome.error, "");
  EXPECT_EQ(outcome.reward, -0.5);
  EXPECT_EQ(env.view().fingerprint, before);
  EXPECT_EQ((*session)->failures().size(), 1u);
  EXPECT_EQ((*session)->pool().deaths().size(), 1u);
  EXPECT_FALSE(env.ActionMask()[0]);
  EXPECT_EQ(MustStep(env, 1).error, "");  // and goes on
}

TEST(PassOrderEnv, WhatTheVerifierRejectsIsAFailedStep) {
  const std::string file = "xla_findings/algsimp-vector_dot_of_concatenation.hlo";
  for (const bool use_table : {false, true}) {
    EnvOptions options;
    options.actions = "algsimp,dce";
    options.reward.failure = 0.5;
    options.use_table = use_table;
    const auto session = Session::Open({{file, testing::ReadTestFile(file)}}, options, {});
    ASSERT_TRUE(session);
    PassOrderEnv env(*session);
    ASSERT_TRUE(env.Reset());
    const Fingerprint before = env.view().fingerprint;
    for (int i = 0; i < 2; ++i) {
      const Outcome outcome = MustStep(env, 0);
      EXPECT_NE(outcome.error.find("HLO verifier"), std::string::npos) << outcome.error;
      EXPECT_EQ(outcome.reward, -0.5);
      EXPECT_FALSE(outcome.changed);
      EXPECT_EQ(env.view().fingerprint, before);
      EXPECT_EQ(MustStep(env, 1).error, "");  // and goes on, where it can
      if (!env.running()) break;
    }
    EXPECT_TRUE((*session)->pool().deaths().empty());
  }
}

TEST(PassOrderEnv, AKilledWorkerChangesNothing) {
  EnvOptions options;
  options.use_table = false;
  std::vector<Fingerprint> states[2];
  for (const bool kills : {false, true}) {
    const auto session = MustOpen({kSmall}, options);
    PassOrderEnv env(session);
    ASSERT_TRUE(env.Reset());
    Rng rng(5);
    for (int step = 0; step < 20; ++step) {
      if (kills && step % 5 == 2) {
        for (int pid : session->pool().pids()) kill(pid, SIGKILL);
      }
      EXPECT_EQ(MustStep(env, static_cast<int64_t>(rng.Below(session->actions().size()))).error,
                "");
      states[kills].push_back(env.view().fingerprint);
    }
  }
  EXPECT_EQ(states[0], states[1]);
}

TEST(PassOrderEnv, ABadProgramIsPassedOver) {
  EnvOptions options;
  const auto session =
      Session::Open({{"bad.hlo", "HloModule nothing"}, {kSmall, ReadData(kSmall)}}, options, {});
  ASSERT_TRUE(session);
  PassOrderEnv env(*session);
  ASSERT_TRUE(env.Reset());
  EXPECT_EQ(env.view().program, 1u);
  EXPECT_NE(env.outcome().error.find("bad.hlo"), std::string::npos);
  const Status only_bad = env.Reset({}, 0);
  ASSERT_FALSE(only_bad);
  EXPECT_EQ(only_bad.error().code, ErrorCode::kInvalidInput);
  EXPECT_FALSE(Session::Open({}, options, {}));
}

TEST(PassOrderEnv, ProgramsComeInTurnOrFromTheSmallest) {
  EnvOptions options;
  options.traj_limit = 1;
  options.curriculum_episodes = 3;
  const std::vector<std::string> programs{"resnet/hf_fwd_r18_64.hlo", kSmall, kOther};
  PassOrderEnv in_turn(MustOpen(programs, options));
  for (size_t episode = 0; episode < 6; ++episode) {
    ASSERT_TRUE(in_turn.Reset());
    EXPECT_EQ(in_turn.view().program, episode % 3);
  }
  options.schedule = Schedule::kCurriculum;
  const auto session = MustOpen(programs, options);
  PassOrderEnv curriculum(session);
  const std::vector<size_t>& by_size = session->by_size();
  EXPECT_EQ(by_size.back(), 0u);
  for (size_t episode = 0; episode < 9; ++episode) {
    ASSERT_TRUE(curriculum.Reset());
    const auto rank = std::find(by_size.begin(), by_size.end(), curriculum.view().program);
    EXPECT_LE(static_cast<size_t>(rank - by_size.begin()), episode / 3);
  }
}

void StepAtRandom(PassOrderEnv& env, Rng& rng) {
  if (!env.running()) {
    ASSERT_TRUE(env.Reset());
  }
  MustStep(env, static_cast<int64_t>(rng.Below(env.session()->actions().size())));
}

TEST(PassOrderEnv, TheTableStaysWithinItsLimit) {
  EnvOptions options;
  options.most_transitions = 50;
  const auto session = MustOpen({kSmall, kOther}, options);
  PassOrderEnv env(session);
  Rng rng(1);
  for (int steps = 0; steps < 400; ++steps) {
    StepAtRandom(env, rng);
    ASSERT_LE(session->transitions(), 50u);
  }
}

TEST(PassOrderEnv, AWorkerStaysWithinItsMemory) {
  EnvOptions options;
  options.use_table = false;
  PoolOptions pool;
  pool.headroom_bytes = size_t{256} << 20;
  const auto session = MustOpen({kSmall, "bert/hf_fwd_mlm_l2_d128.hlo"}, options, pool);
  PassOrderEnv env(session);
  Rng rng(1);
  for (int steps = 0; steps < 400; ++steps) StepAtRandom(env, rng);
  EXPECT_GT(session->pool().bare_bytes(), size_t{50} << 20);
  EXPECT_TRUE(session->pool().deaths().empty());
}

}  // namespace
}  // namespace hone
