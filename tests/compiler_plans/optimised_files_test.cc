// What passes made is found again, by other processes too, where all is the same that they look at.
#include "compiler/run/optimised_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/fingerprint.h"
#include "compiler/run/executables.h"
#include "compiler/run/execute.h"
#include "xla/hlo/parser/hlo_parser.h"

namespace hone::compiler {
namespace {

namespace fs = std::filesystem;

// Of so many operations that one is made after another.
std::unique_ptr<xla::HloModule> Chain(int length) {
  std::string text = R"(
HloModule m
ENTRY e {
  v0 = f32[64] parameter(0)
)";
  for (int i = 1; i <= length; ++i) {
    text += "  v" + std::to_string(i) + " = f32[64] " + (i % 2 == 0 ? "tanh" : "cosine") + "(v" +
            std::to_string(i - 1) + ")\n";
  }
  text += "  ROOT r = f32[64] negate(v" + std::to_string(length) + ")\n}\n";
  auto module = xla::ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

class OptimisedFiles : public testing::Test {
 protected:
  OptimisedFiles() {
    fs::remove_all(folder_);
    ShareOptimised(folder_);
  }

  // Made, and read back.
  static std::unique_ptr<xla::HloModule> ThereAndBack(const xla::HloModule& before,
                                                      const xla::HloModule& made) {
    OptimisedElsewhere elsewhere({1, 2}, nullptr);
    elsewhere.Begin(before);
    elsewhere.Add(made);
    return elsewhere.Find();
  }
  uintmax_t Bytes() const { return fs::file_size(folder_ + "/recent"); }

  const std::string folder_ = testing::TempDir() + "hone_optimised_files";
};

TEST_F(OptimisedFiles, HaveWhatPassesMade) {
  const auto made = Chain(120);
  made->entry_computation()->root_instruction()->set_metadata_op_name("looked at");
  const auto again = ThereAndBack(*Chain(120), *made);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->ToString(), made->ToString());
}

TEST_F(OptimisedFiles, HaveNothingThatIsSmall) {
  EXPECT_EQ(ThereAndBack(*Chain(5), *Chain(5)), nullptr);
}

TEST_F(OptimisedFiles, AreOfOneProgramAndConfigurationWhicheverTheQualityOfCode) {
  const auto before = Chain(120);
  ASSERT_NE(ThereAndBack(*before, *Chain(120)), nullptr);
  OptimisedElsewhere other({1, 3}, nullptr);
  other.Begin(*before);
  EXPECT_EQ(other.Find(), nullptr);
  const auto found = [](const xla::HloModule& module) {
    OptimisedElsewhere same({1, 2}, nullptr);
    same.Begin(module);
    return same.Find() != nullptr;
  };
  xla::DebugOptions flags = before->config().debug_options();
  flags.set_xla_backend_optimization_level(1);
  before->mutable_config().set_debug_options(flags);
  EXPECT_TRUE(found(*before));
  flags.set_xla_cpu_enable_fast_math(true);
  before->mutable_config().set_debug_options(flags);
  EXPECT_FALSE(found(*before));
}

TEST_F(OptimisedFiles, DoNotHaveWhatIsConfiguredOtherwiseSince) {
  const auto made = Chain(120);
  made->mutable_config().set_intra_op_parallelism_threads(7);
  EXPECT_EQ(ThereAndBack(*Chain(120), *made), nullptr);
}

TEST_F(OptimisedFiles, AreNotLookedIntoWherePassesAreRunAnew) {
  const auto module = Chain(120);
  const PassesAnew anew(true);
  EXPECT_EQ(ThereAndBack(*module, *module), nullptr);
}

TEST_F(OptimisedFiles, ServeCompilations) {
  const auto module = Chain(130);
  const auto compile = [&](CodeQuality quality) {
    SetExecutableMemory(0);  // what this process knows is forgotten
    SetExecutableMemory(size_t{1} << 29);
    const auto program = Program::Compile(*module, quality, nullptr, {});
    EXPECT_TRUE(program.ok()) << program.status();
    return *program->Optimised();
  };
  const auto first = compile(CodeQuality::kStock);
  const uintmax_t bytes = Bytes();
  EXPECT_GT(bytes, 0u);
  const auto second = compile(CodeQuality::kStock);
  EXPECT_EQ(second->ToString(), first->ToString());
  compile(CodeQuality::kQuickCompile);
  EXPECT_EQ(Bytes(), bytes);
}

}  // namespace
}  // namespace hone::compiler
