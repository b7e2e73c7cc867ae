// What becomes of a program's kernels: they are made, handed to each process and written out, or it
// is said why not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/comparison.h"
#include "core/native_kernel.h"
#include "kernel_pool.h"
#include "loops/kernel_file.h"
#include "program_cases.h"
#include "support/programs.h"

namespace hone::loops {
namespace {

using hone::testing::MakePool;
using hone::testing::MustLoad;
using hone::testing::PassNamed;
using ::testing::HasSubstr;

// Of the program with kernels.
StateName Changed(Pool& pool, const ProgramInfo& program) {
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = {PassNamed(pool, std::string(kKernelPass))};
  const auto applied = pool.Apply(request);
  EXPECT_TRUE(applied && applied->steps[0].changed);
  return {program.id, {{request.passes[0], applied->steps[0].state, {}}}};
}

TEST(KernelsOfPrograms, AreRacedAndTimed) {
  Pool& pool = KernelPool();
  const ProgramInfo program =
      MustLoad(pool, Program("f32", Softmax("f32", "64,256", "64", "0", "1")));
  const StateName changed = Changed(pool, program);
  RaceOptions race;
  race.budget_seconds = 0.2;
  const auto raced = pool.Race({program.id, {}}, changed, race);
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_GT(raced->speedup, 0);
  const auto kernels = pool.Profile(changed, {}, 0.1, 30);
  ASSERT_TRUE(kernels) << kernels.error().message;
  // Another process has none of them, and is given them.
  pool.EndProcesses();
  EXPECT_EQ(pool.Compare({program.id, {}}, changed, {})->verdict, Verdict::kEqual);
}

TEST(KernelsOfPrograms, WithoutASourceAreAnErrorThatSaysSo) {
  const auto pool = MakePool();
  const ProgramInfo program =
      MustLoad(*pool, Program("f32", Softmax("f32", "64,256", "64", "0", "1")));
  EXPECT_FALSE(pool->makes_kernels());
  const auto compared = pool->Compare({program.id, {}}, Changed(*pool, program), {});
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(compared.error().message, HasSubstr("kernels of hone-loops"));
}

TEST(KernelsOfPrograms, WhoseSourceFailsSayWhatItSaid) {
  PoolOptions options;
  options.kernels = [](const auto&) -> StatusOr<std::vector<NativeKernel>> {
    return MakeError(ErrorCode::kUnsupported, "no kernels today");
  };
  const auto pool = MakePool(options);
  const ProgramInfo program =
      MustLoad(*pool, Program("f32", Softmax("f32", "64,256", "64", "0", "1")));
  const auto compared = pool->Compare({program.id, {}}, Changed(*pool, program), {});
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().message, "no kernels today");
}

TEST(KernelsOfPrograms, ThatAreNoCodeAreAnErrorAndNoDeath) {
  PoolOptions options;
  options.kernels =
      [](const std::vector<std::string>& tasks) -> StatusOr<std::vector<NativeKernel>> {
    std::vector<NativeKernel> kernels;
    for (const std::string& task : tasks) kernels.push_back({KernelName(task), "no ELF", {4}});
    return kernels;
  };
  const auto pool = MakePool(options);
  const ProgramInfo program =
      MustLoad(*pool, Program("f32", Softmax("f32", "64,256", "64", "0", "1")));
  const auto compared = pool->Compare({program.id, {}}, Changed(*pool, program), {});
  ASSERT_FALSE(compared);
  EXPECT_THAT(compared.error().message, HasSubstr("relocatable object"));
  EXPECT_TRUE(pool->deaths().empty());
}

// A program is untrusted: its call may name a kernel of other arrays.
TEST(KernelsOfPrograms, OfOtherArraysDoNotRun) {
  Pool& pool = KernelPool();
  const std::string text = Program("f32", Softmax("f32", "64,256", "64", "0", "1"));
  const ProgramInfo program = MustLoad(pool, text);
  std::string exported = pool.Export(Changed(pool, program), ExportFormat::kText)->bytes;
  for (size_t at = 0; (at = exported.find("f32[64,256]", at)) != exported.npos;) {
    // Not within the task.
    if (exported.compare(at - 3, 3, "i0 ") != 0) exported.replace(at, 11, "f32[64,128]");
    ++at;
  }
  const ProgramInfo smaller = MustLoad(pool, exported);
  RunTimeOptions once;
  once.runs = 1;
  const auto ran =
      pool.On(0, [&](RemoteWorker& worker) { return worker.RunTime({smaller.id, {}}, once); });
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("are not those of kernel"));
}

TEST(KernelFiles, TellKernelsAndTheProcessor) {
  const std::string file = KernelFile({{"00ff", "ab", {8, 4}}, {"00fe", "cde", {4}}});
  EXPECT_EQ(file.rfind("hone kernels 1\nprocessor ", 0), 0u);
  EXPECT_THAT(file, HasSubstr("\nkernel 00ff 2 8 4\nkernel 00fe 3 4\nobjects\nabcde"));
  EXPECT_TRUE(TasksIn("no calls").empty());
}

}  // namespace
}  // namespace hone::loops
