// Plans for a GPU that is not here: the pipeline's sites, and XLA's estimates in place of a clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "compiler_gpu/gpu_pool.h"
#include "core/rng.h"
#include "support/programs.h"

namespace hone {
namespace {

using testing::GpuPool;
using testing::MustLoad;

StatusOr<Compiled> Compile(const ProgramInfo& program, const CompilePlan& plan, bool sites) {
  CompileOptions options;
  options.sites = sites;
  options.text = true;
  return GpuPool().On(0, [&](RemoteWorker& remote) {
    return remote.Compile({program.id, {}}, plan, options);
  });
}

class GpuPlans : public ::testing::TestWithParam<const char*> {
 protected:
  const ProgramInfo program_ = MustLoad(GpuPool(), testing::ReadData(GetParam()));
};

TEST_P(GpuPlans, TheEmptyPlanIsTheStockModule) {
  const auto stock = Compile(program_, {}, /*sites=*/false);
  const auto observed = Compile(program_, {}, /*sites=*/true);
  ASSERT_TRUE(stock) << stock.error().message;
  ASSERT_TRUE(observed) << observed.error().message;
  EXPECT_EQ(stock->text, observed->text);
  EXPECT_EQ(observed->applied, 0u);
}

TEST_P(GpuPlans, FusionsAndLayoutsAreSites) {
  const auto listing = Compile(program_, {}, /*sites=*/true);
  ASSERT_TRUE(listing) << listing.error().message;
  std::map<CompileSiteKind, int> kinds;
  std::map<SiteKey, int> keys;
  for (const CompileSite& site : listing->sites) {
    ++kinds[site.kind];
    ++keys[site.key];
    EXPECT_LT(site.stock, site.choices.size());
    EXPECT_FALSE(site.instruction.empty());
  }
  EXPECT_EQ(keys.size(), listing->sites.size());
  EXPECT_GT(kinds[CompileSiteKind::kFusionNode], 0);
  EXPECT_GT(kinds[CompileSiteKind::kLayout], 0);
}

TEST_P(GpuPlans, AnyPlanCompiles) {
  const auto listing = Compile(program_, {}, /*sites=*/true);
  ASSERT_TRUE(listing) << listing.error().message;
  Rng rng(7);
  for (int round = 0; round < 4; ++round) {
    CompilePlan plan;
    for (const CompileSite& site : listing->sites) {
      const uint64_t choice = rng.Below(site.choices.size());
      if (choice != site.stock) plan.choices.push_back({site.key, site.choices[choice]});
    }
    Sort(plan);
    const auto compiled = Compile(program_, plan, /*sites=*/false);
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_GT(compiled->applied, 0u);
    const auto again = Compile(program_, plan, /*sites=*/false);
    ASSERT_TRUE(again);
    EXPECT_EQ(compiled->text, again->text);
  }
}

// tiling_memo.cc: what is known of other candidates' fusions.
TEST_P(GpuPlans, WhatAWorkerRemembersChangesNothing) {
  const auto listing = Compile(program_, {}, /*sites=*/true);
  ASSERT_TRUE(listing) << listing.error().message;
  CompilePlan plan;
  for (size_t i = 0; i < listing->sites.size(); i += 7) {
    const CompileSite& site = listing->sites[i];
    plan.choices.push_back({site.key, site.choices.back()});
  }
  Sort(plan);
  const auto warm = Compile(program_, plan, /*sites=*/false);
  ASSERT_TRUE(warm) << warm.error().message;
  PoolOptions options;
  options.target = "h100";
  const auto fresh = testing::MakePool(options);
  const ProgramInfo program = MustLoad(*fresh, testing::ReadData(GetParam()));
  CompileOptions compiling;
  compiling.sites = false;
  compiling.text = true;
  const auto cold = fresh->On(0, [&](RemoteWorker& remote) {
    return remote.Compile(StateName{program.id, {}}, plan, compiling);
  });
  ASSERT_TRUE(cold) << cold.error().message;
  EXPECT_EQ(warm->text, cold->text);
}

INSTANTIATE_TEST_SUITE_P(Programs, GpuPlans,
                         ::testing::Values("bert/hf_fwd_mlm_l2_d128.hlo",
                                           "resnet/hf_fwd_r18_64.hlo"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace hone
