// hone-worker-gpu: XLA:GPU's pipeline, passes and estimates without a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "compiler_gpu/gpu_pool.h"
#include "support/programs.h"

namespace hone {
namespace {

using testing::GpuPool;
using testing::MustLoad;
using testing::PassNamed;

constexpr const char* kNegate =
    "HloModule copy\n\nENTRY main {\n  p = f32[8192,8192] parameter(0)\n"
    "  ROOT n = f32[8192,8192] negate(p)\n}\n";

Metrics MetricsOf(Pool& pool, const std::string& text) {
  const ProgramInfo program = MustLoad(pool, text);
  const StatusOr<Metrics> metrics = pool.Measure({program.id, {}});
  EXPECT_TRUE(metrics);
  return metrics.value_or(Metrics{});
}

TEST(Gpu, HasPassesThatTheCpuHasNot) {
  Pool& pool = GpuPool();
  EXPECT_EQ(pool.target(), "h100");
  EXPECT_EQ(testing::SharedPool().target(), "cpu");
  std::set<std::string> of_cpu;
  for (const PassInfo& pass : testing::SharedPool().passes()) of_cpu.insert(pass.class_name);
  std::set<std::string> names;
  int own = 0;
  for (const PassInfo& pass : pool.passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name << " is there twice";
    own += of_cpu.count(pass.class_name) == 0;
    EXPECT_NE(pass.class_name, "CpuInstructionFusion");
  }
  EXPECT_GE(own, 90);
}

TEST(Gpu, TheStockOrderIsTheGpus) {
  Pool& pool = GpuPool();
  const ProgramInfo program = MustLoad(pool, testing::ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  const auto passes = pool.StockPasses(program.id);
  ASSERT_TRUE(passes) << passes.error().message;
  std::set<std::string> known;
  for (const PassInfo& pass : pool.passes()) known.insert(pass.name);
  std::set<std::string> ran;
  std::set<std::string> unknown;
  for (const StockPass& pass : *passes) {
    ran.insert(pass.name);
    if (known.count(pass.name) == 0) unknown.insert(pass.name);
  }
  for (const char* name : {"priority-fusion", "layout-assignment", "cublas-gemm-rewriter"}) {
    EXPECT_TRUE(ran.count(name)) << name;
  }
  // Pipelines record themselves, too; the rest is for several devices or the host.
  EXPECT_LT(unknown.size(), ran.size() / 5) << ::testing::PrintToString(unknown);
}

// 256 MiB read and 256 MiB written at 3,352 GB/s take 160 microseconds.
TEST(Gpu, ACopyIsEstimatedAtTheMemorysBandwidth) {
  const Metrics metrics = MetricsOf(GpuPool(), kNegate);
  EXPECT_EQ(metrics.kernels, 1);
  EXPECT_GT(metrics.estimated_seconds, 150e-6);
  EXPECT_LT(metrics.estimated_seconds, 180e-6);
  EXPECT_EQ(MetricsOf(testing::SharedPool(), kNegate).estimated_seconds, -1);
}

// Of 7 trips where `limit` is "constant(7)"; without it XLA cannot know.
std::string Loop(const std::string& limit, const std::string& annotation) {
  return "HloModule loop\n\nbody {\n  s = (s32[], f32[1024], s32[]) parameter(0)\n"
         "  i = s32[] get-tuple-element(s), index=0\n  x = f32[1024] get-tuple-element(s), "
         "index=1\n"
         "  n = s32[] get-tuple-element(s), index=2\n  one = s32[] constant(1)\n"
         "  j = s32[] add(i, one)\n  y = f32[1024] negate(x)\n"
         "  ROOT t = (s32[], f32[1024], s32[]) tuple(j, y, n)\n}\n\n"
         "condition {\n  s = (s32[], f32[1024], s32[]) parameter(0)\n"
         "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] " +
         limit +
         "\n"
         "  ROOT less = pred[] compare(i, n), direction=LT\n}\n\n"
         "ENTRY main {\n  zero = s32[] constant(0)\n  x = f32[1024] parameter(0)\n"
         "  n = s32[] parameter(1)\n  t = (s32[], f32[1024], s32[]) tuple(zero, x, n)\n"
         "  ROOT w = (s32[], f32[1024], s32[]) while(t), condition=condition, body=body" +
         annotation + "\n}\n";
}

// Negate, add and compare, as often as XLA says or can tell; where it cannot, no pass is to gain by
// that.
TEST(Gpu, ALoopCountsAsOftenAsItRuns) {
  const std::string annotation = ", backend_config={\"known_trip_count\":{\"n\":\"7\"}}";
  const std::string unknown = "get-tuple-element(s), index=2";
  EXPECT_EQ(MetricsOf(GpuPool(), Loop(unknown, annotation)).kernels, 7 * 3);
  EXPECT_EQ(MetricsOf(GpuPool(), Loop("constant(7)", "")).kernels, 7 * 3);
  EXPECT_EQ(MetricsOf(GpuPool(), Loop(unknown, "")).kernels, 1000 * 3);
}

TEST(Gpu, FusionLowersKernelsAndTheEstimate) {
  Pool& pool = GpuPool();
  const ProgramInfo program = MustLoad(pool, testing::ReadData("bert/hf_fwd_mlm_l2_d128.hlo"));
  ApplyRequest request;
  request.from = {program.id, {}};
  request.passes = {PassNamed(pool, "algsimp"), PassNamed(pool, "layout-assignment"),
                    PassNamed(pool, "priority-fusion")};
  request.options.cost = true;
  request.options.estimate = true;
  const auto applied = pool.Apply(request);
  ASSERT_TRUE(applied) << applied.error().message;
  ASSERT_EQ(applied->steps.size(), 3u);
  const Metrics& before = applied->steps[1].metrics;
  const Metrics& after = applied->steps[2].metrics;
  ASSERT_GT(before.estimated_seconds, 0);
  EXPECT_LT(after.kernels, before.kernels / 2);
  EXPECT_LT(after.estimated_seconds, before.estimated_seconds);
}

// What XLA's own pipeline would write otherwise first: its model alone ends the process on them.
TEST(Gpu, WhatIsNotYetSimplifiedIsEstimated) {
  const char* const add =
      "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
      "  ROOT z = f32[] add(x, y)\n}\n\n";
  const std::string scatter =
      "  o = f32[8] parameter(0)\n  i = s32[1] parameter(1)\n  u = f32[] parameter(2)\n"
      "  ROOT s = f32[8] scatter(o, i, u), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add\n";
  const std::string reduce =
      "  p = f32[67108864] parameter(0)\n  z = f32[] constant(0)\n"
      "  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add\n";
  for (const std::string& body : {scatter, reduce}) {
    const std::string text = std::string("HloModule m\n\n") + add + "ENTRY main {\n" + body + "}\n";
    EXPECT_GT(MetricsOf(GpuPool(), text).estimated_seconds, 0) << text;
  }
}

// A computation that is called by others that are called twice each.
TEST(Gpu, CallsOfSharedComputationsAreCounted) {
  std::string text =
      "HloModule m\n\ncalled0 {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)\n}\n\n";
  for (int i = 1; i <= 14; ++i) {
    text += fmt::format(
        "called{0} {{\n  p = f32[4] parameter(0)\n  a = f32[4] call(p), to_apply=called{1}\n"
        "  ROOT b = f32[4] call(a), to_apply=called{1}\n}}\n\n",
        i, i - 1);
  }
  text +=
      "ENTRY main {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=called14\n}\n";
  EXPECT_EQ(MetricsOf(testing::SharedPool(), text).kernels, 1 << 14);
}

// Nothing that was run on this machine is told of another.
TEST(Gpu, NothingIsMeasuredHere) {
  Pool& pool = GpuPool();
  const ProgramInfo program = MustLoad(pool, kNegate);
  const auto time = pool.On(0, [&](RemoteWorker& remote) {
    return remote.RunTime({program.id, {}}, RunTimeOptions{});
  });
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(time.error().message.find("there is no h100 here"), std::string::npos);
}

TEST(Gpu, DescriptionsOfTheUsersOwn) {
  const std::string path = ::testing::TempDir() + "hone_gpu_test_target.txtpb";
  const auto start = [&](const std::string& text) {
    std::ofstream(path) << text;
    PoolOptions options;
    options.target = path;
    return Pool::Start(options);
  };
  const std::string device =
      "gpu_device_info { threads_per_block_limit: 1024 threads_per_warp: 32 "
      "shared_memory_per_block: 49152 shared_memory_per_core: 98304 threads_per_core_limit: 2048 "
      "core_count: 10 fpus_per_core: 64 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 "
      "block_dim_limit_z: 65535 memory_bandwidth: 100000000000 l2_cache_size: 1048576 "
      "clock_rate_ghz: 1 device_memory_size: 1073741824 shared_memory_per_block_optin: 98304 "
      "cuda_compute_capability { major: 7 minor: 0 } registers_per_core_limit: 65536 "
      "registers_per_block_limit: 65536 } platform_name: \"CUDA\" "
      "dnn_version_info { major: 9 minor: 10 patch: 0 } runtime_version { major: 12 minor: 8 "
      "patch: 0 } "
      "device_description_str: \"slow\"";
  auto pool = start(device);
  ASSERT_TRUE(pool) << pool.error().message;
  EXPECT_EQ((*pool)->target(), "hone_gpu_test_target");
  EXPECT_GT(MetricsOf(**pool, kNegate).estimated_seconds, 4e-3);
  for (const char* bad : {"gpu_device_info { core_count: 10 }", "no_such_field: 1", "\x01\xff"}) {
    const auto refused = start(bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(refused.error().message.find(path), std::string::npos) << refused.error().message;
  }
  std::remove(path.c_str());
  PoolOptions options;
  options.target = "h1000";
  const auto unknown = Pool::Start(options);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("h100, h200"), std::string::npos)
      << unknown.error().message;
}

}  // namespace
}  // namespace hone
