// Saturation on IR, and on real programs.
#include "compiler/rules/saturate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/fingerprint.h"
#include "compiler/load.h"
#include "compiler/rules/parse.h"
#include "compiler/run/compare.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using xla::HloOpcode;

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The rules of saturation alone: what is tested does not change with the other files.
const std::vector<const Rule*>& Rules() {
  static const auto* const rules = [] {
    const std::string name = std::string(HONE_RULES) + "/saturation.rules";
    auto parsed = ParseRules(Read(name), "saturation", name);
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
    auto* pointers = new std::vector<const Rule*>;
    for (Rule& rule : *parsed) pointers->push_back(new Rule(std::move(rule)));
    return pointers;
  }();
  return *rules;
}

std::unique_ptr<xla::HloModule> Parse(const std::string& text) {
  auto loaded = LoadModule(text);
  EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message);
  return std::move(loaded->module);
}

int64_t Count(const xla::HloModule& module, HloOpcode opcode) {
  int64_t count = 0;
  for (const auto* instruction : module.entry_computation()->instructions()) {
    count += instruction->opcode() == opcode;
  }
  return count;
}

SaturateOptions For(SaturationGoal goal) {
  SaturateOptions options;
  options.goal = goal;
  return options;
}

// Saturates, and checks what must hold of every program: no cost went up, the verifier is content.
std::vector<WindowReport> RunOn(xla::HloModule& module, const SaturateOptions& options) {
  std::vector<WindowReport> reports;
  const auto changed = Saturate(&module, Rules(), options, {}, &reports);
  EXPECT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(VerifyModule(module), "");
  for (const WindowReport& report : reports) EXPECT_LE(report.cost_after, report.cost_before);
  return reports;
}

void ExpectEqual(const xla::HloModule& before, const xla::HloModule& after) {
  const ComparisonReport report = Compare(before, after, CompareOptions());
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
}

TEST(Saturate, FactorsASumAndDropsWhatCancels) {
  const auto module = Parse(R"(
HloModule m
ENTRY e {
  x = f32[4,8] parameter(0)
  y = f32[4,8] parameter(1)
  z = f32[4,8] parameter(2)
  a = f32[4,8] multiply(x, y)
  b = f32[4,8] multiply(z, x)
  s = f32[4,8] add(a, b)
  two = f32[] constant(2)
  twos = f32[4,8] broadcast(two), dimensions={}
  d = f32[4,8] multiply(s, twos)
  ROOT r = f32[4,8] divide(d, twos)
})");
  const auto before = module->Clone("");
  RunOn(*module, For(SaturationGoal::kOpCount));
  EXPECT_EQ(module->entry_computation()->instruction_count(), 5);
  EXPECT_EQ(Count(*module, HloOpcode::kMultiply), 1);
  EXPECT_EQ(Count(*module, HloOpcode::kAdd), 1);
  ExpectEqual(*before, *module);
}

TEST(Saturate, ReassociatesAChainOfMatricesForFlops) {
  const std::string text = R"(
HloModule m
ENTRY e {
  a = f32[64,2] parameter(0)
  b = f32[2,64] parameter(1)
  c = f32[64,1] parameter(2)
  ab = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[64,1] dot(ab, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  const auto module = Parse(text);
  const auto before = module->Clone("");
  RunOn(*module, For(SaturationGoal::kFlops));
  EXPECT_EQ(module->entry_computation()->root_instruction()->operand(0)->opcode(),
            HloOpcode::kParameter);
  ExpectEqual(*before, *module);
  // The number of instructions is the same either way: no change without a reason.
  const auto other = Parse(text);
  const auto changed = Saturate(other.get(), Rules(), For(SaturationGoal::kOpCount), {}, nullptr);
  ASSERT_TRUE(changed.ok());
  EXPECT_FALSE(*changed);
  EXPECT_EQ(DigestModule(*other).fingerprint, DigestModule(*before).fingerprint);
}

// A rule makes another reduction of the one it is given: its region is of the same module.
TEST(Saturate, AReductionOfANegation) {
  const auto module = Parse(R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[20,65,5] parameter(0)
  n = f32[20,65,5] negate(x)
  zero = f32[] constant(0)
  ROOT r = f32[20,65] reduce(n, zero), dimensions={2}, to_apply=sum
})");
  const auto before = module->Clone("");
  RunOn(*module, For(SaturationGoal::kFlops));
  ExpectEqual(*before, *module);
}

TEST(Saturate, ASharedProductIsNotMadeTwice) {
  // (a b) c alone is cheaper as a (b c), but a b is there anyway.
  const auto module = Parse(R"(
HloModule m
ENTRY e {
  a = f32[64,64] parameter(0)
  b = f32[64,64] parameter(1)
  c = f32[64,48] parameter(2)
  ab = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  abc = f32[64,48] dot(ab, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[64,64], f32[64,48]) tuple(ab, abc)
})");
  const auto before = DigestModule(*module).fingerprint;
  const auto changed = Saturate(module.get(), Rules(), For(SaturationGoal::kFlops), {}, nullptr);
  ASSERT_TRUE(changed.ok());
  EXPECT_FALSE(*changed);
  EXPECT_EQ(DigestModule(*module).fingerprint, before);
}

TEST(Saturate, ATransposeGoesWhenAllItsDotsTakeIt) {
  const auto module = Parse(R"(
HloModule m
ENTRY e {
  x = f32[8,16] parameter(0)
  y = f32[8,4] parameter(1)
  z = f32[8,5] parameter(2)
  t = f32[16,8] transpose(x), dimensions={1,0}
  u = f32[16,4] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  v = f32[16,5] dot(t, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[16,4], f32[16,5]) tuple(u, v)
})");
  const auto before = module->Clone("");
  RunOn(*module, For(SaturationGoal::kOpCount));
  EXPECT_EQ(Count(*module, HloOpcode::kTranspose), 0);
  ExpectEqual(*before, *module);
}

TEST(Saturate, SideEffectsAndControlDependenciesStay) {
  const auto module = Parse(R"(
HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  a = f32[4] multiply(x, ones)
  b = f32[4] multiply(x, ones), control-predecessors={a}
  tok = token[] after-all()
  out = token[] outfeed(a, tok), outfeed_shape=f32[4]
  ROOT r = f32[4] add(b, b)
})");
  RunOn(*module, For(SaturationGoal::kOpCount));
  EXPECT_EQ(Count(*module, HloOpcode::kOutfeed), 1);
  EXPECT_EQ(Count(*module, HloOpcode::kMultiply), 2);
}

TEST(Saturate, WindowsAreSeams) {
  // A chain of many windows; every second one of the products is by one.
  std::string text =
      "HloModule m\nENTRY e {\n  v0 = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n";
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    text += "  c" + n + " = f32[] constant(1)\n  b" + n + " = f32[4] broadcast(c" + n +
            "), dimensions={}\n  m" + n + " = f32[4] multiply(v" + n + ", b" + n + ")\n  " +
            (i == 39 ? "ROOT " : "") + "v" + std::to_string(i + 1) + " = f32[4] subtract(y, m" + n +
            ")\n";
  }
  const auto module = Parse(text + "}");
  const auto before = module->Clone("");
  SaturateOptions options = For(SaturationGoal::kOpCount);
  options.window = 9;
  const auto reports = RunOn(*module, options);
  EXPECT_GT(reports.size(), 10u);
  EXPECT_EQ(Count(*module, HloOpcode::kMultiply), 0);
  ExpectEqual(*before, *module);
}

TEST(Saturate, AScheduledModuleIsLeftAlone) {
  const auto module = Parse(R"(
HloModule m, is_scheduled=true
ENTRY e {
  x = s32[4] parameter(0)
  a = s32[4] add(x, x)
  b = s32[4] add(x, x)
  ROOT r = s32[4] multiply(a, b)
})");
  const auto changed = Saturate(module.get(), Rules(), SaturateOptions(), {}, nullptr);
  ASSERT_TRUE(changed.ok());
  EXPECT_FALSE(*changed);
}

// On real programs: cheaper or the same, legal, the same bytes twice, equal when run.
class SaturatePrograms : public testing::TestWithParam<const char*> {};

TEST_P(SaturatePrograms, EqualAndTheSameTwice) {
  const auto program = Parse(Read(std::filesystem::path(HONE_DATA) / GetParam()));
  for (const SaturationGoal goal :
       {SaturationGoal::kOpCount, SaturationGoal::kFlops, SaturationGoal::kBytes}) {
    const auto once = program->Clone("");
    const auto twice = program->Clone("");
    RunOn(*once, For(goal));
    RunOn(*twice, For(goal));
    EXPECT_EQ(once->ToString(xla::HloPrintOptions::Fingerprint()),
              twice->ToString(xla::HloPrintOptions::Fingerprint()));
    if (goal == SaturationGoal::kOpCount) {
      EXPECT_LE(DigestModule(*once).op_count, DigestModule(*program).op_count);
    }
    ExpectEqual(*program, *once);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Data, SaturatePrograms,
    testing::Values("bert/hf_fwd_mlm_l2_d128.hlo", "kmeans/jax010_kmeans_while.hlo",
                    "misc/jax010_gp_nll_train.hlo", "misc/jax010_int8_mlp_fwd.hlo",
                    "moe/jax010_moe_sorted_scan_fwd.hlo", "sim/jax010_nbody_leapfrog_scan.hlo"));

}  // namespace
}  // namespace hone::compiler
