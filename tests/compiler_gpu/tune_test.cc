// Tuning by XLA's own estimates.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "compiler_gpu/gpu_pool.h"
#include "tune/tune_program.h"

namespace hone {
namespace {

// Two reads of one array with sums along both of its dimensions, and dots that may be one.
constexpr const char* kProgram = R"(HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY main {
  a = f32[256,512] parameter(0)
  b = f32[512,64] parameter(1)
  c = f32[512,64] parameter(2)
  zero = f32[] constant(0)
  e = f32[256,512] exponential(a)
  t = f32[512,256] transpose(e), dimensions={1,0}
  r = f32[512] reduce(t, zero), dimensions={1}, to_apply=add
  s = f32[256] reduce(e, zero), dimensions={1}, to_apply=add
  d = f32[256,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = f32[256,64] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT all = (f32[512], f32[256], f32[256,64], f32[256,64]) tuple(r, s, d, f)
}
)";

// A segment_sum of rows that were columns: XLA leaves them lying so, and each update is strided
// (github.com/jax-ml/jax/issues/39959).
constexpr const char* kSegmentSum = R"(HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY main {
  x = f32[64,20000,4] parameter(0)
  ids = s32[20000] parameter(1)
  zero = f32[] constant(0)
  sums = f32[500,4,64] broadcast(zero), dimensions={}
  i = s32[20000,1] reshape(ids)
  t = f32[20000,4,64] transpose(x), dimensions={1,2,0}
  s = f32[500,4,64] scatter(sums, i, t), update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT r = f32[500,4] reduce(s, zero), dimensions={2}, to_apply=add
}
)";

std::unique_ptr<tune::PoolEvaluator> Evaluator(const std::string& program = kProgram) {
  return testing::GpuEvaluator(program);
}

tune::TuneOptions Options() {
  tune::TuneOptions options;
  options.estimated = true;
  options.budget_seconds = 60;
  options.budget_evaluations = 40;
  return options;
}

TEST(GpuTune, WhatIsKeptIsVerifiedAndItsEstimateIsLower) {
  const auto evaluator = Evaluator();
  ASSERT_NE(evaluator, nullptr);
  const tune::TuneResult result = tune::TuneProgram(*evaluator, Options());
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_EQ(result.verified, "true");
  EXPECT_GT(result.race.speedup, 1.005);
  // No noise, so no interval; and the same in another process.
  EXPECT_EQ(result.race.low, result.race.high);
  RaceOptions racing;
  racing.estimate = true;
  ASSERT_TRUE(evaluator->Restart());
  const auto again = evaluator->Race({}, result.plan, racing);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->seconds_a, result.race.seconds_a);
  EXPECT_EQ(again->seconds_b, result.race.seconds_b);
}

TEST(GpuTune, AStridedLayoutIsNamedAndMended) {
  const auto evaluator = Evaluator(kSegmentSum);
  ASSERT_NE(evaluator, nullptr);
  tune::TuneOptions options = Options();
  options.stages.list = {Stage::kLayout};
  const tune::TuneResult result = tune::TuneProgram(*evaluator, options);
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_EQ(result.verified, "true");
  EXPECT_GT(result.race.speedup, 1.5);
  ASSERT_EQ(result.plan.compile.choices.size(), 1u);
  const SiteKey named = result.plan.compile.choices.front().key;
  EXPECT_TRUE(std::any_of(result.sites.begin(), result.sites.end(), [&](const CompileSite& site) {
    return site.key == named && site.kind == CompileSiteKind::kLayout;
  }));
}

TEST(GpuTune, ARaceIsNoEstimateUnlessAsked) {
  const auto evaluator = Evaluator();
  ASSERT_NE(evaluator, nullptr);
  const auto race = evaluator->Race({}, {}, {});
  ASSERT_FALSE(race);
  EXPECT_EQ(race.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(race.error().message.find("there is no h100 here"), std::string::npos);
}

// What XLA:CPU alone, or hone's own kernels, would make of it is not offered.
TEST(GpuTune, ImplementationsForTheCpuAreNotOffered) {
  const auto evaluator = Evaluator();
  ASSERT_NE(evaluator, nullptr);
  const auto& passes = evaluator->pool().passes();
  for (const char* name : {"implement:loops", "implement:products", "implement:convolutions",
                           "implement:depthwise", "implement:loop_one_kernel"}) {
    EXPECT_TRUE(std::none_of(passes.begin(), passes.end(),
                             [&](const PassInfo& pass) { return pass.name == name; }));
  }
}

}  // namespace
}  // namespace hone
