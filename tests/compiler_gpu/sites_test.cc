// Decisions about one instruction each (gpu/choices_intercept.cc): what each choice makes of a
// program, and that it computes the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler_gpu/gpu_pool.h"
#include "support/programs.h"

namespace hone {
namespace {

using testing::GpuPool;
using testing::MustLoad;

StatusOr<Compiled> Compile(const ProgramInfo& program, const CompilePlan& plan) {
  CompileOptions options;
  options.text = true;
  return GpuPool().On(0, [&](RemoteWorker& remote) {
    return remote.Compile({program.id, {}}, plan, options);
  });
}

struct Case {
  const char* name;
  CompileSiteKind kind;
  const char* value;
  const char* stock;
  const char* shows;       // in the optimised module under the choice, not in stock's
  const char* parameters;  // of the module
  const char* body;
};

std::string TextOf(const Case& one) {
  return std::string("HloModule m") + one.parameters +
         "\n\nadd {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, "
         "y)\n}\n\nENTRY main {\n" +
         one.body + "}\n";
}

class GpuSites : public ::testing::TestWithParam<Case> {};

TEST_P(GpuSites, AreDecidedOtherwise) {
  const Case& one = GetParam();
  const ProgramInfo program = MustLoad(GpuPool(), TextOf(one));
  const auto stock = Compile(program, {});
  ASSERT_TRUE(stock) << stock.error().message;
  CompilePlan plan;
  for (const CompileSite& site : stock->sites) {
    if (site.kind != one.kind) continue;
    EXPECT_EQ(site.choices[site.stock], one.stock);
    ASSERT_NE(std::count(site.choices.begin(), site.choices.end(), one.value), 0);
    plan.choices.push_back({site.key, one.value});
  }
  ASSERT_FALSE(plan.choices.empty()) << stock->text;
  Sort(plan);
  const auto decided = Compile(program, plan);
  ASSERT_TRUE(decided) << decided.error().message;
  EXPECT_EQ(decided->applied, plan.choices.size());
  EXPECT_EQ(stock->text.find(one.shows), std::string::npos) << stock->text;
  EXPECT_NE(decided->text.find(one.shows), std::string::npos) << decided->text;
  if (one.kind == CompileSiteKind::kCollective) return;  // one device runs none
  CompareOptions options;
  options.pipeline = true;
  const auto report = GpuPool().Compare({program.id, {}}, {}, {program.id, {}}, plan, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::kEqual) << report->reason << decided->text;
}

constexpr char kDots[] =
    "  x = f32[64,256] parameter(0)\n  w = f32[256,128] parameter(1)\n"
    "  v = f32[128,64] parameter(2)\n"
    "  d = f32[64,128] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  t = f32[64,128] tanh(d)\n"
    "  ROOT e = f32[64,64] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
constexpr char kConvolution[] =
    "  x = f32[2,16,16,32] parameter(0)\n  w = f32[3,3,32,64] parameter(1)\n"
    "  zero = f32[] constant(0)\n  p = f32[2,18,18,32] pad(x, zero), padding=0_0x1_1x1_1x0_0\n"
    "  ROOT c = f32[2,16,16,64] convolution(p, w), window={size=3x3}, dim_labels=b01f_01io->b01f\n";
constexpr char kRows[] =
    "  x = f32[64,4096] parameter(0)\n  zero = f32[] constant(0)\n"
    "  ROOT s = f32[64] reduce(x, zero), dimensions={1}, to_apply=add\n";
constexpr char kApart[] =
    "  x = f32[256,32,512] parameter(0)\n  zero = f32[] constant(0)\n"
    "  y = f32[32,256,512] transpose(x), dimensions={1,0,2}\n  z = f32[32,256,512] tanh(y)\n"
    "  ROOT s = f32[256] reduce(z, zero), dimensions={0,2}, to_apply=add\n";
constexpr char kCollectives[] =
    "  x = f32[512,768] parameter(0)\n  y = f32[768] parameter(1)\n"
    "  p = f32[512,768] all-reduce(x), replica_groups={}, to_apply=add\n"
    "  q = f32[768] all-reduce(y), replica_groups={}, to_apply=add\n"
    "  b = f32[512,768] broadcast(q), dimensions={1}\n  ROOT r = f32[512,768] multiply(p, b)\n";

INSTANTIATE_TEST_SUITE_P(
    Choices, GpuSites,
    ::testing::Values(
        Case{"cublaslt", CompileSiteKind::kGemm, "cublaslt", "cublas", "__cublas$lt$matmul", "",
             kDots},
        Case{"triton", CompileSiteKind::kGemm, "triton", "cublas", "__triton", "", kDots},
        Case{"loop", CompileSiteKind::kGemm, "loop", "cublas", " dot(", "", kDots},
        Case{"convolution", CompileSiteKind::kConvolution, "keep", "simplify", " pad(", "",
             kConvolution},
        Case{"split", CompileSiteKind::kReduction, "split", "whole", "f32[64,64]", "", kRows},
        Case{"collective", CompileSiteKind::kCollective, "keep", "combine",
             "f32[768]{0} all-reduce", ", replica_count=2", kCollectives}),
    [](const auto& info) { return info.param.name; });

TEST(GpuSites, FusionsHaveXlasEstimateOfBothSides) {
  const ProgramInfo program = MustLoad(GpuPool(), testing::ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  const auto listing = Compile(program, {});
  ASSERT_TRUE(listing) << listing.error().message;
  int told = 0;
  for (const CompileSite& site : listing->sites) {
    if (site.kind != CompileSiteKind::kFusionNode) continue;
    ASSERT_EQ(site.seconds.size(), site.choices.size());  // stock, fuse, keep
    EXPECT_LE(site.seconds[0], std::min(site.seconds[1], site.seconds[2]) * (1 + 1e-9));
    EXPECT_GT(site.seconds[2], 0);
    ++told;
  }
  EXPECT_GT(told, 0);
}

// Triton's pass runs for all dots where one wants it.
TEST(GpuSites, WhatIsTooSmallForCublasStaysALoopBesideTriton) {
  const ProgramInfo program = MustLoad(
      GpuPool(),
      "HloModule m\n\nENTRY main {\n  x = f32[64,256] parameter(0)\n  w = f32[256,128] parameter(1)\n"
      "  a = f32[4,3] parameter(2)\n  b = f32[3,5] parameter(3)\n"
      "  d = f32[64,128] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  e = f32[4,5] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  ROOT t = (f32[64,128], f32[4,5]) tuple(d, e)\n}\n");
  const auto stock = Compile(program, {});
  ASSERT_TRUE(stock) << stock.error().message;
  CompilePlan plan;
  for (const CompileSite& site : stock->sites) {
    if (site.kind != CompileSiteKind::kGemm) continue;
    if (site.choices[site.stock] == "cublas") plan.choices.push_back({site.key, "triton"});
  }
  ASSERT_EQ(plan.choices.size(), 1u);
  const auto decided = Compile(program, plan);
  ASSERT_TRUE(decided) << decided.error().message;
  EXPECT_EQ(decided->applied, 1u);
  EXPECT_NE(decided->text.find("__triton"), std::string::npos) << decided->text;
  EXPECT_EQ(decided->text.find("__cublas"), std::string::npos) << decided->text;
}

// A dot's key is of the program before any dot became something else.
TEST(GpuSites, OneDecisionLeavesTheOthersTheirNames) {
  const ProgramInfo program = MustLoad(GpuPool(), TextOf({"", {}, "", "", "", "", kDots}));
  const auto stock = Compile(program, {});
  ASSERT_TRUE(stock) << stock.error().message;
  std::vector<const CompileSite*> dots;
  for (const CompileSite& site : stock->sites) {
    if (site.kind == CompileSiteKind::kGemm) dots.push_back(&site);
  }
  ASSERT_EQ(dots.size(), 2u);
  for (const CompileSite* first : dots) {
    for (const char* value : {"triton", "cublaslt", "loop"}) {
      const auto decided = Compile(program, {{{first->key, value}}, {}});
      ASSERT_TRUE(decided) << decided.error().message;
      for (const CompileSite* other : dots) {
        EXPECT_TRUE(std::any_of(decided->sites.begin(), decided->sites.end(),
                                [&](const CompileSite& site) { return site.key == other->key; }))
            << value;
      }
    }
  }
}

}  // namespace
}  // namespace hone
