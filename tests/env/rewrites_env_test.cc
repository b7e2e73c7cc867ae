#include "env/rewrites_env.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "env/alternatives.h"
#include "env/rewrite_heuristics.h"
#include "support/programs.h"

namespace hone {
namespace {

using testing::ReadData;
using testing::ReadTestFile;

constexpr const char* kSmall = "kmeans/jax010_kmeans_while.hlo";
constexpr const char* kOther = "misc/jax010_int8_mlp_fwd.hlo";
constexpr const char* kPipeline = "call-inliner,algsimp,cse,dce";

std::unique_ptr<RewritesEnv> MustMake(const std::vector<ProgramSource>& programs,
                                      const RewritesEnvOptions& options, EnvOptions env = {}) {
  env.actions = options.pipeline;
  auto session = Session::Open(programs, env, {});
  EXPECT_TRUE(session) << session.error().message;
  auto made = RewritesEnv::Make(*session, options);
  EXPECT_TRUE(made) << made.error().message;
  return std::make_unique<RewritesEnv>(*std::move(made));
}

std::vector<ProgramSource> Data(const std::vector<std::string>& names) {
  std::vector<ProgramSource> sources;
  for (const std::string& name : names) sources.push_back({name, ReadData(name)});
  return sources;
}

RewritesEnvOptions Options(const std::string& pipeline, RewriteMode mode, int loops = 1) {
  RewritesEnvOptions options;
  options.pipeline = pipeline;
  options.mode = mode;
  options.loops = loops;
  return options;
}

std::vector<bool> Every(const RewritesEnv& env, bool accept) {
  return std::vector<bool>(static_cast<size_t>(env.options().max_sites), accept);
}

Outcome Must(StatusOr<Outcome> outcome) {
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *outcome : Outcome();
}

TEST(RewritesEnv, AllIsThePassAndNoneIsNothing) {
  for (const char* pass : {"algsimp", "cse", "dce", "call-inliner", "fusion"}) {
    const auto env = MustMake(Data({kSmall}), Options(pass, RewriteMode::kBatch));
    ASSERT_TRUE(env->Reset());
    const Fingerprint before = env->view().fingerprint;
    ASSERT_FALSE(env->listing()->sites.empty()) << pass;
    EXPECT_FALSE(Must(env->Step(Every(*env, false))).changed);
    EXPECT_EQ(env->view().fingerprint, before);
    ASSERT_TRUE(env->Reset());
    const Outcome all = Must(env->Step(Every(*env, true)));
    EXPECT_TRUE(all.changed);
    EXPECT_TRUE(all.terminated);
    EXPECT_FALSE(env->running());
    Pool& pool = env->session()->pool();
    ApplyRequest alone;
    alone.from = {env->view().state.program, {}};
    alone.passes = {testing::PassNamed(pool, pass)};
    alone.options.fresh = true;
    const auto applied = pool.Apply(alone);
    ASSERT_TRUE(applied);
    EXPECT_EQ(env->view().fingerprint, applied->steps.front().state) << pass;
  }
}

TEST(RewritesEnv, OneSiteAtATimeAddsUp) {
  const auto env = MustMake(Data({kSmall}), Options("dce", RewriteMode::kSites));
  ASSERT_TRUE(env->Reset());
  const size_t sites = env->listing()->sites.size();
  ASSERT_GT(sites, 2u);
  const int64_t initial = env->view().metrics.op_count;
  for (size_t made = 0; made < sites; ++made) {
    EXPECT_EQ(env->listing()->sites.size(), sites - made);
    const std::vector<bool> mask = env->ActionMask();
    EXPECT_EQ(static_cast<size_t>(std::count(mask.begin(), mask.end(), true)), sites - made + 1);
    const Outcome outcome = Must(env->Step(0));
    EXPECT_TRUE(outcome.changed);
    EXPECT_NEAR(outcome.reward, 1.0 / static_cast<double>(initial), 1e-12);
    EXPECT_EQ(outcome.terminated, made + 1 == sites);  // nothing is offered any more
  }
  EXPECT_FALSE(env->Step(0)) << "the episode is over";
}

TEST(RewritesEnv, GoesOnAndRoundAgain) {
  const auto env = MustMake(Data({kSmall}), Options("dce,algsimp,dce", RewriteMode::kSites, 2));
  ASSERT_TRUE(env->Reset());
  const int64_t next = env->options().max_sites;
  EXPECT_EQ(env->pipeline().size(), 3u);
  EXPECT_EQ(env->position(), 0u);
  EXPECT_TRUE(Must(env->Step(0)).changed);
  EXPECT_FALSE(Must(env->Step(next)).changed);
  EXPECT_EQ(env->position(), 1u);
  Must(env->Step(next));
  EXPECT_EQ(env->position(), 2u);
  EXPECT_FALSE(Must(env->Step(next)).terminated);  // the first round changed something
  EXPECT_EQ(env->position(), 0u);
  EXPECT_EQ(env->loop(), 1);
  Must(env->Step(next));
  Must(env->Step(next));
  EXPECT_TRUE(Must(env->Step(next)).terminated);
}

TEST(RewritesEnv, ARoundThatChangesNothingIsTheLast) {
  const auto env = MustMake(Data({kSmall}), Options("dce,algsimp", RewriteMode::kBatch, 100));
  ASSERT_TRUE(env->Reset());
  EXPECT_FALSE(Must(env->Step(Every(*env, false))).terminated);
  EXPECT_TRUE(Must(env->Step(Every(*env, false))).terminated);
}

TEST(RewritesEnv, RandomStepsGiveTheSameForTheSameSeed) {
  for (const RewriteMode mode : {RewriteMode::kSites, RewriteMode::kBatch}) {
    std::vector<Fingerprint> states[2];
    std::vector<double> rewards[2];
    for (int run = 0; run < 2; ++run) {
      EnvOptions env_options;
      env_options.schedule = Schedule::kRandom;
      env_options.traj_limit = 60;
      env_options.use_table = run == 0;  // what is looked up is what would have come out
      const auto env = MustMake(Data({kSmall, kOther}), Options(kPipeline, mode, 3), env_options);
      ASSERT_TRUE(env->Reset(17));
      Rng rng(3);
      for (int step = 0; step < 200; ++step) {
        if (!env->running()) {
          ASSERT_TRUE(env->Reset());
        }
        const std::vector<bool> mask = env->ActionMask();
        Outcome outcome;
        if (mode == RewriteMode::kSites) {
          size_t action = 0;
          do {
            action = rng.Below(mask.size());
          } while (!mask[action]);
          outcome = Must(env->Step(static_cast<int64_t>(action)));
        } else {
          std::vector<bool> accept;
          for (size_t i = 0; i < mask.size(); ++i) accept.push_back(rng.Unit() < 0.5);
          outcome = Must(env->Step(accept));
        }
        EXPECT_EQ(outcome.error, "");
        EXPECT_FALSE(outcome.terminated && outcome.truncated);
        EXPECT_EQ(env->running(), !outcome.terminated && !outcome.truncated);
        states[run].push_back(env->view().fingerprint);
        rewards[run].push_back(outcome.reward);
      }
    }
    EXPECT_EQ(rewards[0], rewards[1]);
    for (size_t i = 0; i < states[0].size(); ++i) {
      ASSERT_EQ(states[0][i].ToHex(), states[1][i].ToHex()) << i;
    }
  }
}

TEST(RewritesEnv, WhatOneEnvironmentDidAnotherOfTheSessionKnows) {
  const auto first = MustMake(Data({kSmall}), Options("algsimp", RewriteMode::kSites));
  auto second = RewritesEnv::Make(first->session(), first->options());
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_TRUE(first->Reset());
  ASSERT_TRUE(second->Reset());
  ASSERT_GE(first->listing()->sites.size(), 2u);
  EXPECT_FALSE(Must(first->Step(0)).looked);
  const Outcome known = Must(second->Step(0));
  EXPECT_TRUE(known.looked);
  EXPECT_TRUE(known.changed);
  EXPECT_EQ(second->view().fingerprint, first->view().fingerprint);
  // The same pass on the same state with another decision is another transition.
  ASSERT_TRUE(second->Reset());
  EXPECT_FALSE(Must(second->Step(1)).looked);
}

TEST(TransitionTable, DecisionsArePartOfTheKey) {
  TransitionTable table;
  const Fingerprint from{1, 0};
  Step whole;
  whole.pass = 3;
  whole.changed = true;
  whole.state = {2, 0};
  table.Record(from, whole);
  Step nothing;
  nothing.pass = 3;
  nothing.state = from;
  table.Record(from, nothing, /*decisions=*/7);
  ASSERT_NE(table.Find(from, 3), nullptr);
  EXPECT_EQ(table.Find(from, 3)->to, whole.state);
  ASSERT_NE(table.Find(from, 3, 7), nullptr);
  EXPECT_EQ(table.Find(from, 3, 7)->to, from);
  EXPECT_EQ(table.Find(from, 3, 8), nullptr);
  // Declined rewrites do not make the pass one that changes nothing here.
  ASSERT_NE(table.Find(from), nullptr);
  EXPECT_FALSE(table.Find(from)->idle.test(3));
}

TEST(RewritesEnv, RandomHalvesComputeTheSame) {
  const auto env = MustMake(Data({kSmall, kOther}), Options(kPipeline, RewriteMode::kBatch, 2));
  Rng rng(5);
  for (size_t program = 0; program < 2; ++program) {
    ASSERT_TRUE(env->Reset({}, program));
    while (env->running()) {
      std::vector<bool> accept = AcceptRandom(*env->listing(), Objective::kOpCount, rng);
      accept.resize(static_cast<size_t>(env->options().max_sites));
      Must(env->Step(accept));
    }
    EXPECT_LT(env->view().metrics.op_count, env->view().initial_op_count);
    const StateName& state = env->view().state;
    const auto report = env->session()->pool().Compare({state.program, {}}, state, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->verdict, Verdict::kEqual) << report->reason;
  }
}

TEST(RewritesEnv, ACrashIsAStepAndIsNotOfferedAgain) {
  const std::string finding =
      ReadTestFile("xla_findings/dce_call_analysis-same_dead_argument_twice.hlo");
  EnvOptions env_options;
  env_options.reward.failure = 2;
  const auto env = MustMake({{"finding", finding}},
                            Options("dce:call_analysis,algsimp", RewriteMode::kBatch), env_options);
  ASSERT_TRUE(env->Reset());
  const Fingerprint before = env->view().fingerprint;
  const Outcome outcome = Must(env->Step(Every(*env, true)));
  EXPECT_NE(outcome.error.find("killed"), std::string::npos) << outcome.error;
  EXPECT_EQ(outcome.reward, -2);
  EXPECT_FALSE(outcome.changed);
  EXPECT_EQ(env->view().fingerprint, before);
}

// An action that the mask allows: one site, or each with probability 1/2.
RewriteAction RandomAction(const RewritesEnv& env, Rng& rng) {
  const std::vector<bool> mask = env.ActionMask();
  if (env.options().mode == RewriteMode::kBatch) {
    std::vector<bool> accept;
    for (size_t i = 0; i < mask.size(); ++i) accept.push_back(rng.Unit() < 0.5);
    return accept;
  }
  size_t action = 0;
  do {
    action = rng.Below(mask.size());
  } while (!mask[action]);
  return static_cast<int64_t>(action);
}

// What comes of random steps, resets where an episode is over.
std::vector<std::string> Play(RewritesEnv& env, int steps, uint64_t seed) {
  std::vector<std::string> log;
  Rng rng(seed);
  for (int step = 0; step < steps; ++step) {
    if (!env.running()) {
      EXPECT_TRUE(env.Reset());
    }
    const Outcome outcome = Must(env.Step(RandomAction(env, rng)));
    log.push_back(env.view().fingerprint.ToHex() + " " + std::to_string(outcome.reward) + " " +
                  std::to_string(env.position()) + " " + std::to_string(env.loop()) + " " +
                  std::to_string(env.view().program));
    for (const bool open : env.ActionMask()) log.back() += open ? '1' : '0';
    for (const float feature : env.SiteFeatures()) log.back() += std::to_string(feature);
  }
  return log;
}

TEST(RewritesEnv, AForkAndARestoredOneGoOnAlike) {
  for (const RewriteMode mode : {RewriteMode::kSites, RewriteMode::kBatch}) {
    for (const bool graph : {false, true}) {
      EnvOptions env_options;
      env_options.schedule = Schedule::kRandom;
      env_options.observation.graph = graph;
      RewritesEnvOptions options = Options(kPipeline, mode, 2);
      options.max_sites = 12;
      const auto env = MustMake(Data({kSmall, kOther}), options, env_options);
      ASSERT_TRUE(env->Reset(5));
      Play(*env, mode == RewriteMode::kSites ? 5 : 2, 1);
      ASSERT_TRUE(env->running());
      RewritesEnv forked = env->Fork();
      const auto elsewhere = MustMake(Data({kSmall, kOther}), options, env_options);
      const Status restored = elsewhere->Restore(env->Save());
      ASSERT_TRUE(restored) << restored.error().message;
      EXPECT_EQ(elsewhere->view().fingerprint, env->view().fingerprint);
      const std::vector<std::string> expected = Play(*env, 30, 2);
      EXPECT_EQ(Play(forked, 30, 2), expected);
      EXPECT_EQ(Play(*elsewhere, 30, 2), expected);
    }
  }
}

TEST(RewritesEnv, OneThatHasNotBegunIsSavedToo) {
  EnvOptions env_options;
  env_options.schedule = Schedule::kRandom;
  const auto env =
      MustMake(Data({kSmall, kOther}), Options("dce", RewriteMode::kSites), env_options);
  env->set_schedule_state(77, 3);
  const auto saved = env->Save();
  EXPECT_FALSE(saved.program);
  const auto other =
      MustMake(Data({kSmall, kOther}), Options("dce", RewriteMode::kSites), env_options);
  ASSERT_TRUE(other->Restore(saved));
  EXPECT_FALSE(other->running());
  EXPECT_EQ(Play(*other, 5, 1), Play(*env, 5, 1));
}

TEST(RewritesEnv, TheRecipeHasTheDecisions) {
  const auto env = MustMake(Data({kSmall}), Options("dce,algsimp", RewriteMode::kSites));
  ASSERT_TRUE(env->Reset());
  Must(env->Step(1));
  Must(env->Step(env->options().max_sites));
  Must(env->Step(0));
  const Recipe recipe = env->MakeRecipe();
  EXPECT_EQ(recipe.passes, (std::vector<std::string>{"dce", "algsimp"}));
  ASSERT_EQ(recipe.decisions.size(), 2u);
  for (const Decisions& decisions : recipe.decisions) {
    EXPECT_EQ(decisions.otherwise, Otherwise::kDecline);
    EXPECT_EQ(decisions.choices.size(), 1u);
  }
  EXPECT_EQ(recipe.result_fingerprint, env->view().fingerprint.ToHex());
  // The passes with these decisions, from the program.
  Pool& pool = env->session()->pool();
  ApplyRequest again;
  again.from = {env->view().state.program, {}};
  for (size_t i = 0; i < 2; ++i) {
    again.passes.push_back(testing::PassNamed(pool, recipe.passes[i]));
    again.decisions.push_back(std::make_shared<const Decisions>(recipe.decisions[i]));
  }
  again.options.fresh = true;
  const auto applied = pool.Apply(again);
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->steps.back().state.ToHex(), recipe.result_fingerprint);
}

TEST(RewritesEnv, FeaturesAreThoseOfTheListing) {
  EnvOptions env_options;
  env_options.observation.graph = true;
  RewritesEnvOptions options = Options("algsimp", RewriteMode::kSites);
  options.max_sites = 4;
  const auto env = MustMake(Data({kSmall}), options, env_options);
  ASSERT_TRUE(env->Reset());
  EXPECT_TRUE(env->listing_truncated());
  const std::vector<float> features = env->SiteFeatures();
  ASSERT_EQ(features.size(), 4 * kSiteFeatureCount);
  const auto& opcodes = env->session()->pool().opcodes();
  for (size_t i = 0; i < 4; ++i) {
    const RewriteSite& site = env->listing()->sites[i];
    const float* row = &features[i * kSiteFeatureCount];
    EXPECT_EQ(row[0], static_cast<float>(site.kind));
    EXPECT_EQ(opcodes[static_cast<size_t>(row[2])], site.opcode);
    EXPECT_GE(row[3], 0) << site.replacement;
    ASSERT_GE(row[8], 0);
    EXPECT_EQ(env->view().arrays->opcode[static_cast<size_t>(row[8])],
              static_cast<int32_t>(row[2]));
  }
}

TEST(RewritesEnv, AProgramWithoutRewritesTakesOneStep) {
  const auto env = MustMake(
      {{"nothing",
        "HloModule n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)\n}"}},
      Options("algsimp,dce", RewriteMode::kSites));
  ASSERT_TRUE(env->Reset());
  EXPECT_TRUE(env->running());
  EXPECT_TRUE(Must(env->Step(0)).terminated);
}

TEST(RewritesEnv, SaysWhatIsWrong) {
  const auto env = MustMake(Data({kSmall}), Options("algsimp", RewriteMode::kSites));
  EXPECT_FALSE(env->Step(0)) << "none has begun";
  ASSERT_TRUE(env->Reset());
  EXPECT_FALSE(env->Step(-1));
  EXPECT_FALSE(env->Step(env->options().max_sites + 1));
  EXPECT_FALSE(env->Step(Every(*env, true)));
  EXPECT_FALSE(env->Reset({}, 7));
  RewritesEnvOptions bad = Options("algsimp,dcee", RewriteMode::kSites);
  const auto unknown = RewritesEnv::Make(env->session(), bad);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("did you mean"), std::string::npos);
  bad = Options("algsimp", RewriteMode::kSites);
  bad.max_sites = 0;
  EXPECT_FALSE(RewritesEnv::Make(env->session(), bad));
  bad = Options("algsimp", RewriteMode::kSites, 0);
  EXPECT_FALSE(RewritesEnv::Make(env->session(), bad));
}

TEST(RootOpcode, IsThatOfTheLastLine) {
  EXPECT_EQ(RootOpcode(""), "");
  EXPECT_EQ(RootOpcode("no instruction"), "");
  EXPECT_EQ(RootOpcode("a = f32[2]{0} parameter(0)\nROOT b = f32[2]{0} negate(a)"), "negate");
  EXPECT_EQ(RootOpcode("t = (f32[2]{0}, (s32[], pred[])) tuple(a, b), sharding={x = y}"), "tuple");
}

TEST(FindAlternatives, GroupsSitesByOriginalWithItsUsers) {
  ProgramArrays arrays;  // 1 and 2 use 0, 2 twice; 3 uses 2 and is called by 1
  arrays.opcode = {0, 0, 0, 0};
  arrays.edge_start = {0, 0, 2, 4, 5};
  arrays.edge_source = {0, 3, 0, 0, 2};
  arrays.edge_kind = {0, 1, 0, 0, 0};
  const Alternatives found = FindAlternatives(arrays, {2, 0, -1, 2, 3});
  EXPECT_EQ(found.original, (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(found.site_start, (std::vector<int32_t>{0, 1, 3, 4}));
  EXPECT_EQ(found.site, (std::vector<int32_t>{1, 0, 3, 4}));
  EXPECT_EQ(found.user_start, (std::vector<int32_t>{0, 2, 3, 3}));
  EXPECT_EQ(found.user, (std::vector<int32_t>{1, 2, 3}));
}

TEST(RewriteHeuristics, ChooseWhatTheySay) {
  Rewrites rewrites;
  const auto add = [&](int64_t ops, double flops, double bytes) {
    RewriteSite site;
    site.delta_op_count = ops;
    site.delta_flops = flops;
    site.delta_bytes = bytes;
    rewrites.sites.push_back(site);
  };
  add(-1, 0, 5);
  add(-3, 4, -7);
  add(0, -2, -9);
  add(2, -8, 0);
  rewrites.conflicts = {{0, 1}, {2, 3}};
  Rng rng(1);
  using Flags = std::vector<bool>;
  EXPECT_EQ(AcceptAll(rewrites, Objective::kOpCount, rng), (Flags{true, true, true, true}));
  EXPECT_EQ(AcceptNone(rewrites, Objective::kOpCount, rng), (Flags{false, false, false, false}));
  EXPECT_EQ(AcceptByDelta(rewrites, Objective::kOpCount, rng), (Flags{false, true, false, false}));
  EXPECT_EQ(AcceptByDelta(rewrites, Objective::kFlops, rng), (Flags{false, false, false, true}));
  EXPECT_EQ(AcceptByDelta(rewrites, Objective::kBytes, rng), (Flags{false, true, true, false}));
  EXPECT_EQ(AcceptBySize(rewrites, Objective::kOpCount, rng), (Flags{true, true, true, false}));
  int accepted = 0;
  for (int i = 0; i < 100; ++i) {
    const Flags random = AcceptRandom(rewrites, Objective::kOpCount, rng);
    accepted += static_cast<int>(std::count(random.begin(), random.end(), true));
  }
  EXPECT_NEAR(accepted, 200, 50);
}

}  // namespace
}  // namespace hone
