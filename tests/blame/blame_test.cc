// Decisions that are known to do it, put among others that do nothing, in real workers.
#include "blame/blame.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "blame/bug_report.h"
#include "support/programs.h"

namespace hone::blame {
namespace {

constexpr char kRules[] = R"(
rule wrong_maximum {
  meaning "the larger one is the smaller one"
  gain 0
  on_demand
  pattern     { maximum(a, b) }
  replacement { minimum(a, b) }
}
rule right_double {
  meaning "x + x = 2 x"
  gain 0
  on_demand
  pattern     { add(x, x) }
  where       { number(x) }
  replacement { multiply(x, constant(value=2)) }
}
)";

// Of the two largest ones only `clamped` reaches the result where it shows.
constexpr char kProgram[] = R"(HloModule values
sum { x = f32[] parameter(0)
      y = f32[] parameter(1)
      ROOT z = f32[] add(x, y) }
ENTRY main {
  p = f32[8,64] parameter(0)
  q = f32[8,64] parameter(1)
  twice = f32[8,64] add(p, p)
  bent = f32[8,64] tanh(twice)
  clamped = f32[8,64] maximum(bent, q)
  squared = f32[8,64] multiply(clamped, clamped)
  zero = f32[] constant(0)
  total = f32[8] reduce(squared, zero), dimensions={1}, to_apply=sum
  ROOT scaled = f32[8] negate(total)
})";

constexpr char kDots[] = R"(HloModule dots
ENTRY main {
  x = f32[128,192] parameter(0)
  w = f32[192,192] parameter(1)
  first = f32[128,192] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bent = f32[128,192] tanh(first)
  turned = f32[192,128] transpose(bent), dimensions={1,0}
  doubled = f32[192,128] add(turned, turned)
  ROOT sum = f32[192,128] exponential(doubled)
})";

tune::TunePlan Passes(const std::vector<std::string>& names) {
  tune::TunePlan plan;
  for (const std::string& name : names) plan.passes.push_back({name, {}});
  return plan;
}

// A pool whose workers know the rules above.
class PoolWithRules {
 public:
  PoolWithRules()
      : path_(std::filesystem::temp_directory_path() /
              ("blame-" + std::to_string(getpid()) + ".rules")) {
    std::ofstream(path_) << kRules;
    PoolOptions options;
    options.rule_files = {path_.string()};
    pool_ = testing::MakePool(options);
  }
  ~PoolWithRules() { std::filesystem::remove(path_); }
  Pool& operator*() const { return *pool_; }

 private:
  const std::filesystem::path path_;
  std::unique_ptr<Pool> pool_;
};

BlameResult MustBlame(Pool& pool, const ProgramInfo& program, const BlameOptions& options) {
  const auto result = Blame(pool, program, options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : BlameResult();
}

TEST(Blame, AWrongRuleIsNamedToTheRewrite) {
  const PoolWithRules pool;
  const ProgramInfo program = testing::MustLoad(*pool, kProgram);
  BlameOptions options;
  options.slower = false;
  options.b = Passes({"algsimp", "rule:right_double", "cse", "rule:wrong_maximum", "dce"});
  const BlameResult result = MustBlame(*pool, program, options);
  EXPECT_EQ(result.differences.size(), 5u);
  ASSERT_EQ(result.answers.size(), 1u);
  const Answer& answer = result.answers[0];
  EXPECT_EQ(answer.question, Question::kDifferent);
  EXPECT_EQ(answer.whole.shows, Shows::kYes);
  EXPECT_TRUE(answer.settled) << answer.reason;
  ASSERT_EQ(answer.causes.size(), 1u) << answer.reason;
  const Cause& cause = answer.causes[0];
  ASSERT_EQ(cause.decisions.size(), 1u);
  EXPECT_EQ(cause.decisions[0].difference.name, "rule:wrong_maximum");
  ASSERT_EQ(cause.decisions[0].rewrites.size(), 1u);
  EXPECT_EQ(cause.decisions[0].rewrites[0].instruction, "clamped");
  ASSERT_TRUE(cause.first);
  EXPECT_EQ(cause.first->instruction, "clamped");
  EXPECT_GT(cause.first->error.elements_over, 0);
  ASSERT_TRUE(cause.reduced);
  EXPECT_EQ(cause.reduced->instructions, 3u) << cause.reduced->text;
  EXPECT_TRUE(cause.reduced->minimal);
  // The small program shows it by itself.
  const ProgramInfo small = testing::MustLoad(*pool, cause.reduced->text);
  options.b = cause.reduced->b;
  EXPECT_EQ(MustBlame(*pool, small, options).answers[0].causes.size(), 1u);
  const std::string report = BugReport(
      answer, cause,
      {"values.hlo", "xla", "1", "2 threads", {}, "a.hlo", "a.json", "b.hlo", " --rules r"});
  for (const char* part : {"wrong_maximum", "clamped", "run_hlo_module --platform=CPU", "b.hlo",
                           "hone blame a.hlo --plan a.json --rules r", "minimum(bent, q)"}) {
    EXPECT_NE(report.find(part), std::string::npos) << part << "\n" << report;
  }
}

TEST(Blame, WhatComputesTheSameAccusesNobody) {
  const PoolWithRules pool;
  const ProgramInfo program = testing::MustLoad(*pool, kProgram);
  BlameOptions options;
  options.slower = false;
  options.b = Passes({"algsimp", "rule:right_double", "cse"});
  const BlameResult result = MustBlame(*pool, program, options);
  ASSERT_EQ(result.answers.size(), 1u);
  EXPECT_EQ(result.answers[0].whole.shows, Shows::kNo);
  EXPECT_TRUE(result.answers[0].settled);
  EXPECT_TRUE(result.answers[0].causes.empty());
}

TEST(Blame, WhatIsMendedByB) {
  const PoolWithRules pool;
  const ProgramInfo program = testing::MustLoad(*pool, kProgram);
  BlameOptions options;
  options.slower = false;
  options.a = Passes({"rule:wrong_maximum", "dce"});
  options.b = Passes({"cse", "dce"});
  const BlameResult result = MustBlame(*pool, program, options);
  ASSERT_EQ(result.answers[0].causes.size(), 1u) << result.answers[0].reason;
  const Decision& decision = result.answers[0].causes[0].decisions[0];
  EXPECT_EQ(decision.difference.name, "rule:wrong_maximum");
  EXPECT_EQ(decision.difference.to, "") << "that it is left out makes the difference";
  ASSERT_EQ(decision.rewrites.size(), 1u);
  EXPECT_EQ(decision.rewrites[0].instruction, "clamped");
}

// How a dot is emitted: tens of times slower.
TEST(Blame, ABadChoiceAmongGoodOnesIsNamed) {
  Pool& pool = testing::SharedPool();
  const ProgramInfo program = testing::MustLoad(pool, kDots);
  const auto compiled = pool.Compile({program.id, {}}, {}, {});
  ASSERT_TRUE(compiled) << compiled.error().message;
  BlameOptions options;
  options.different = false;
  options.budget_seconds = 120;
  SiteKey bad = 0;
  for (const CompileSite& site : compiled->sites) {
    for (const std::string& value : site.choices) {
      const bool naive = site.kind == CompileSiteKind::kDotStrategy && value == "naive";
      const bool harmless = site.kind == CompileSiteKind::kFusionNode && value == "keep";
      if (!naive && !harmless) continue;
      if (naive) bad = site.key;
      options.b.compile.choices.push_back({site.key, value});
    }
  }
  if (bad == 0) GTEST_SKIP() << "the library does not leave that to be chosen on this machine";
  options.b.compile.flags = {{"xla_cpu_copy_insertion_use_region_analysis", "true"}};
  Sort(options.b.compile);
  const BlameResult result = MustBlame(pool, program, options);
  ASSERT_EQ(result.answers.size(), 1u);
  ASSERT_GE(result.answers[0].causes.size(), 1u) << result.answers[0].reason;
  const Cause& cause = result.answers[0].causes[0];
  ASSERT_EQ(cause.decisions.size(), 1u);
  ASSERT_EQ(cause.decisions[0].sites.size(), 1u);
  EXPECT_EQ(cause.decisions[0].sites[0].site.key, bad);
  EXPECT_EQ(InstructionOf(cause.decisions[0]), "first");
  EXPECT_GT(cause.with.low, 1.05);
  ASSERT_TRUE(cause.reduced);
  EXPECT_LE(cause.reduced->instructions, 30u);
  EXPECT_FALSE(cause.kernels.empty());
}

// A small part of `hone-bench blame`: rules that are wrong on purpose, in real programs.
TEST(Blame, WrongRulesInRealProgramsAreNamed) {
  PoolOptions starting;
  starting.rule_files = {HONE_BENCH "/blame/wrong.rules"};
  const auto pool = testing::MakePool(starting);
  const std::pair<const char*, const char*> cases[] = {
      {"hloenv/jaxrl_qr.hlo", "rule:wrong_select"},
      {"sim/jax010_nbody_leapfrog_scan.hlo", "rule:wrong_rsqrt"},
  };
  for (const auto& [name, rule] : cases) {
    const ProgramInfo program = testing::MustLoad(*pool, testing::ReadData(name));
    BlameOptions options;
    options.slower = false;
    options.b = Passes({"algsimp", "cse", rule, "dce", "reshape-mover"});
    options.b.compile.flags = {{"xla_cpu_copy_insertion_use_region_analysis", "true"}};
    const Answer answer = MustBlame(*pool, program, options).answers.at(0);
    ASSERT_EQ(answer.causes.size(), 1u) << name << ": " << answer.reason;
    ASSERT_EQ(answer.causes[0].decisions.size(), 1u) << name;
    EXPECT_EQ(answer.causes[0].decisions[0].difference.name, rule);
    EXPECT_EQ(answer.causes[0].decisions[0].rewrites.size(), 1u) << name;
    ASSERT_TRUE(answer.causes[0].reduced) << name;
    EXPECT_LE(answer.causes[0].reduced->instructions, 30u);
  }
}

TEST(Blame, AnInterruptLeavesWhatThereIs) {
  const PoolWithRules pool;
  const ProgramInfo program = testing::MustLoad(*pool, kProgram);
  std::atomic<bool> interrupted = false;
  BlameOptions options;
  options.slower = false;
  options.b = Passes({"algsimp", "cse", "rule:wrong_maximum", "dce"});
  options.interrupted = &interrupted;
  options.progress = [&](const std::string& line) {
    if (line.find("of 4 decisions") != std::string::npos) interrupted = true;
  };
  const BlameResult result = MustBlame(*pool, program, options);
  EXPECT_TRUE(result.interrupted);
  ASSERT_EQ(result.answers.size(), 1u);
  EXPECT_FALSE(result.answers[0].settled);
  EXPECT_TRUE(result.answers[0].causes.empty());
  EXPECT_NE(result.answers[0].reason.find("interrupted"), std::string::npos);
}

TEST(Blame, UnknownPassesAndFlagsAreErrors) {
  Pool& pool = testing::SharedPool();
  const ProgramInfo program = testing::MustLoad(pool, kProgram);
  BlameOptions options;
  options.b = Passes({"no-such-pass"});
  auto result = Blame(pool, program, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
  options.b = {};
  options.b.compile.flags = {{"xla_no_such_flag", "true"}};
  result = Blame(pool, program, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace hone::blame
