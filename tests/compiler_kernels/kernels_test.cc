#include "compiler/kernels/kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/kernels/kernel_cache.h"
#include "compiler/run/executables.h"
#include "compiler/run/execute.h"
#include "compiler/run/optimised.h"
#include "support/literals.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/literal_util.h"

namespace hone::compiler {
namespace {

// Two fusions and a sort, whose comparison comes to LLVM another way.
constexpr char kProgram[] = R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[64,64] parameter(0)
  sine = f32[64,64] sine(p)
  wave = f32[64,64] multiply(sine, p)
  zero = f32[] constant(0)
  sums = f32[64] reduce(wave, zero), dimensions={1}, to_apply=add
  table = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})
  rows = f32[8,8] broadcast(table), dimensions={1}
  flat = f32[64] reshape(rows)
  shifted = f32[64] add(sums, flat)
  ROOT sorted = f32[64] sort(shifted), dimensions={0}, to_apply=less
})";

struct Ran {
  std::vector<float> values;
  KernelCounts counts;  // of this compilation
};

Ran CompileAndRun(const std::string& text, CodeQuality quality = CodeQuality::kStock) {
  auto module = xla::ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  SetExecutableMemory(0);  // the whole of it would be known
  SetExecutableMemory(size_t{1} << 28);
  const KernelCounts before = CountsOfKernels();
  auto program = Program::Compile(**module, quality);
  EXPECT_TRUE(program.ok()) << program.status();
  const KernelCounts after = CountsOfKernels();
  Ran ran;
  ran.counts = {after.compiled - before.compiled, after.reused - before.reused,
                after.from_files - before.from_files, after.checked - before.checked,
                after.differed - before.differed};
  Arrays arguments;
  arguments.push_back(xla::LiteralUtil::CreateR2FromArray2D(xla::Array2D<float>(64, 64)));
  for (int i = 0; i < 64 * 64; ++i)
    arguments[0].data<float>()[i] = 0.001f * static_cast<float>(i % 977);
  auto placed = program->Place(arguments);
  EXPECT_TRUE(placed.ok()) << placed.status();
  auto results = program->Run(*placed);
  EXPECT_TRUE(results.ok()) << results.status();
  const xla::Literal result = std::move(LiteralsOf(*results)[0]);
  const auto values = result.data<float>();
  ran.values.assign(values.begin(), values.end());
  return ran;
}

TEST(Kernels, TheSecondCompilationTakesThoseOfTheFirst) {
  const Ran first = CompileAndRun(kProgram);
  const Ran second = CompileAndRun(kProgram);
  EXPECT_GE(first.counts.compiled, 2);
  EXPECT_GE(second.counts.reused, 2);
  EXPECT_EQ(second.counts.compiled, second.counts.checked);
  EXPECT_EQ(second.values, first.values);
}

TEST(Kernels, AreTakenUnderOtherNames) {
  const Ran first = CompileAndRun(kProgram);
  const Ran second = CompileAndRun(absl::StrReplaceAll(
      kProgram, {{"wave", "something_quite_different"}, {"sums", "s-1"}, {"shifted", "t"}}));
  EXPECT_EQ(second.counts.compiled, second.counts.checked);
  EXPECT_EQ(second.values, first.values);
}

TEST(Kernels, OneConstantMakesAnother) {
  (void)CompileAndRun(kProgram);
  const Ran other = CompileAndRun(absl::StrReplaceAll(kProgram, {{"4, 5", "4, 50000"}}));
  SetKernelMemory(0);
  const Ran alone = CompileAndRun(absl::StrReplaceAll(kProgram, {{"4, 5", "4, 50000"}}));
  EXPECT_EQ(alone.counts.reused, 0);
  EXPECT_EQ(other.values, alone.values);
  SetKernelMemory(size_t{1} << 28);
}

TEST(Kernels, QualitiesOfCodeDoNotMix) {
  (void)CompileAndRun(kProgram);
  EXPECT_EQ(CompileAndRun(kProgram, CodeQuality::kQuickCompile).counts.reused, 0);
}

TEST(Kernels, SomeAreCheckedAndAllAreTheSame) {
  const KernelCounts before = CountsOfKernels();
  for (int i = 0; i < 60; ++i) (void)CompileAndRun(kProgram);
  const KernelCounts after = CountsOfKernels();
  EXPECT_GT(after.checked, before.checked);
  EXPECT_EQ(after.differed, 0);
}

// What a process has forgotten stands for what another one has made.
TEST(Kernels, AreTakenFromFilesThatOthersWrote) {
  std::string folder = testing::TempDir() + "hone-kernels-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  SetKernelMemory(size_t{1} << 28);
  ShareKernels(folder);
  const Ran first = CompileAndRun(kProgram);
  EXPECT_EQ(first.counts.from_files, 0);
  EXPECT_GE(first.counts.compiled, 2);
  SetKernelMemory(size_t{1} << 28);
  ShareKernels(folder);
  const Ran second = CompileAndRun(kProgram);
  EXPECT_EQ(second.counts.from_files, first.counts.compiled);
  EXPECT_EQ(second.counts.compiled, second.counts.checked);
  EXPECT_EQ(second.values, first.values);
  std::filesystem::remove_all(folder);
}

// What passes made once they need not make again; code is made of it as before, to the byte.
TEST(StoredPasses, AreTakenFromFiles) {
  std::string folder = testing::TempDir() + "hone-passes-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  SetKernelMemory(size_t{1} << 28);
  ShareOptimised(folder);
  const int64_t before = ModulesOfStoredPasses();
  const Ran first = CompileAndRun(kProgram);
  EXPECT_EQ(ModulesOfStoredPasses(), before);
  const Ran second = CompileAndRun(kProgram);
  EXPECT_EQ(ModulesOfStoredPasses(), before + 1);
  EXPECT_EQ(second.counts.compiled, second.counts.checked);
  EXPECT_GE(second.counts.reused, 2);
  EXPECT_EQ(second.values, first.values);
  // One in a hundred is made anew and compared; none is other.
  for (int i = 0; i < 100; ++i) (void)CompileAndRun(kProgram);
  const int64_t made = ModulesOfStoredPasses();
  EXPECT_LT(made, before + 101);
  EXPECT_GE(made, before + 99);
  (void)CompileAndRun(kProgram);
  EXPECT_EQ(ModulesOfStoredPasses(), made + 1);
  ShareOptimised("/dev/null/no/folder");
  std::filesystem::remove_all(folder);
}

// What was stored for another module is not taken for this one's.
TEST(StoredPasses, ThatAreNotWhatTheySayAreNotTaken) {
  auto module = xla::ParseAndReturnUnverifiedModule(kProgram);
  ASSERT_TRUE(module.ok());
  StoredPasses passes;
  (*module)->ToProto(&passes.module);
  passes.fingerprint = {1, 2};
  EXPECT_EQ(ModuleOf(passes, (*module)->config()), nullptr);
}

TEST(KernelCache, TheLeastRecentlyUsedGoFirst) {
  KernelCache cache(100);
  cache.Insert({0, 1}, std::string(40, 'a'));
  cache.Insert({0, 2}, std::string(40, 'b'));
  ASSERT_NE(cache.Find({0, 1}), nullptr);
  const auto kept = cache.Find({0, 2});
  ASSERT_NE(cache.Find({0, 1}), nullptr);
  cache.Insert({0, 3}, std::string(40, 'c'));
  EXPECT_NE(cache.Find({0, 1}), nullptr);
  EXPECT_EQ(cache.Find({0, 2}), nullptr);
  EXPECT_NE(cache.Find({0, 3}), nullptr);
  EXPECT_EQ(kept->size(), 40u);  // who holds it goes on holding it
  cache.Insert({0, 4}, std::string(101, 'd'));
  EXPECT_EQ(cache.Find({0, 4}), nullptr);
}

TEST(KernelCache, TheForbiddenStayAway) {
  KernelCache cache(100);
  cache.Insert({0, 1}, "a");
  cache.Forbid({0, 1});
  cache.Insert({0, 1}, "a");
  EXPECT_EQ(cache.Find({0, 1}), nullptr);
  cache.Forbid({0, 2});
  cache.Insert({0, 3}, std::string(60, 'b'));
  cache.Insert({0, 4}, std::string(60, 'c'));
  EXPECT_EQ(cache.Find({0, 3}), nullptr);
  EXPECT_NE(cache.Find({0, 4}), nullptr);
}

}  // namespace
}  // namespace hone::compiler
