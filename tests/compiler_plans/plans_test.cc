// The stock pipeline under plans: nothing decided is the stock compiler, and what is decided
// happens and computes the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/run/compare.h"
#include "compiler/run/compile.h"
#include "compiler/run/race.h"
#include "core/rng.h"
#include "support/parse.h"

namespace hone::compiler {
namespace {

constexpr const char* kTransposeAdd = R"(
HloModule m
ENTRY e {
  x = f32[256,512] parameter(0)
  y = f32[512,256] parameter(1)
  t = f32[512,256] transpose(x), dimensions={1,0}
  u = f32[512,256] add(t, y)
  ROOT r = f32[512,256] cosine(u)
})";

constexpr const char* kDot = R"(
HloModule m
ENTRY e {
  x = f32[128,64] parameter(0)
  y = f32[64,96] parameter(1)
  ROOT d = f32[128,96] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

Compiled Compile(const xla::HloModule& module, const CompilePlan& plan = {}, bool sites = true,
                 bool free_entry = false) {
  CompileOptions options;
  options.sites = sites;
  options.text = true;
  options.free_entry = free_entry;
  auto compiled = CompileUnderPlan(module, plan, options);
  EXPECT_TRUE(compiled.has_value()) << compiled.error().message;
  return compiled ? *compiled : Compiled{};
}

const CompileSite* Find(const Compiled& compiled, CompileSiteKind kind, const std::string& opcode) {
  for (const CompileSite& site : compiled.sites) {
    if (site.kind == kind && site.opcode == opcode) return &site;
  }
  return nullptr;
}

void ExpectEqual(const xla::HloModule& module, const CompilePlan& plan) {
  CompareOptions options;
  options.inputs = 1;
  const ComparisonReport report = Compare(module, module, options, {}, plan);
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
}

std::vector<std::string> DataPrograms() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HONE_DATA)) {
    const std::string kind = entry.path().extension().string();
    if (kind == ".hlo" || kind == ".txt") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Read(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(Plans, TheEmptyPlanIsTheStockCompiler) {
  ASSERT_FALSE(DataPrograms().empty());
  for (const std::string& file : DataPrograms()) {
    const auto module = Parse(Read(file));
    if (!CompileUnderPlan(*module, {}, {})) continue;  // custom calls that are not here
    const Compiled stock = Compile(*module, {}, /*sites=*/false);
    const Compiled noted = Compile(*module, {}, /*sites=*/true);
    EXPECT_EQ(stock.text, noted.text) << file;
    EXPECT_EQ(stock.fingerprint, noted.fingerprint) << file;
    EXPECT_TRUE(stock.sites.empty());
    EXPECT_FALSE(noted.sites.empty()) << file;
    EXPECT_EQ(noted.applied, 0u);
  }
}

TEST(Plans, SitesAreWellFormed) {
  for (const std::string& file : DataPrograms()) {
    const auto compiled = CompileUnderPlan(*Parse(Read(file)), {}, {});
    if (!compiled) continue;
    std::set<SiteKey> keys;
    for (const CompileSite& site : compiled->sites) {
      EXPECT_TRUE(keys.insert(site.key).second) << site.instruction;
      ASSERT_GE(site.choices.size(), 2u);
      ASSERT_LT(site.stock, site.choices.size());
      EXPECT_GE(site.places, 1u);
      EXPECT_EQ(std::set<std::string>(site.choices.begin(), site.choices.end()).size(),
                site.choices.size());
    }
  }
}

TEST(Plans, SitesAreTheSameEveryTime) {
  const auto module = Parse(kTransposeAdd);
  const Compiled once = Compile(*module);
  const Compiled again = Compile(*module->Clone(""));
  ASSERT_EQ(once.sites.size(), again.sites.size());
  for (size_t i = 0; i < once.sites.size(); ++i) {
    EXPECT_EQ(once.sites[i].key, again.sites[i].key);
  }
}

TEST(Plans, AProducerIsKeptOutOfItsConsumer) {
  const auto module = Parse(kTransposeAdd);
  const Compiled stock = Compile(*module);
  for (CompileSiteKind kind : {CompileSiteKind::kFusionNode, CompileSiteKind::kFusionEdge}) {
    // What is left of the transpose after layouts are assigned.
    const CompileSite* site = Find(stock, kind, "copy");
    ASSERT_NE(site, nullptr);
    const CompilePlan plan{{{site->key, "keep"}}, {}};
    const Compiled planned = Compile(*module, plan);
    EXPECT_GE(planned.applied, 1u);
    EXPECT_NE(planned.fingerprint, stock.fingerprint);
    // In a loop of its own now.
    const auto loops = [](const Compiled& compiled) {
      int count = 0;
      for (size_t at = compiled.text.find("ENTRY"); at != std::string::npos;) {
        at = compiled.text.find(" fusion(", at + 1);
        count += at != std::string::npos;
      }
      return count;
    };
    EXPECT_EQ(loops(stock), 1) << stock.text;
    EXPECT_EQ(loops(planned), 2) << planned.text;
    ExpectEqual(*module, plan);
  }
}

TEST(Plans, ALoopIsSplitAsPlanned) {
  const auto module = Parse(kTransposeAdd);
  const Compiled stock = Compile(*module);
  const auto site = std::find_if(stock.sites.begin(), stock.sites.end(), [](const CompileSite& s) {
    return s.kind == CompileSiteKind::kPartitions;
  });
  ASSERT_NE(site, stock.sites.end());
  const CompilePlan plan{{{site->key, "8"}}, {}};
  const Compiled planned = Compile(*module, plan);
  EXPECT_NE(planned.text.find("\"outer_dimension_partitions\":[\"8\"]"), std::string::npos)
      << planned.text;
  ExpectEqual(*module, plan);
}

// The update of a few small arrays, a product that is not small, and what is done with its result.
constexpr const char* kSmallOnes = R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  w = f32[8,8] parameter(0)
  b = f32[8] parameter(1)
  s = f32[3,5] parameter(2)
  x = f32[128,8] parameter(3)
  y = f32[64,128] parameter(4)
  rate = f32[] constant(0.9)
  rw = f32[8,8] broadcast(rate), dimensions={}
  rb = f32[8] broadcast(rate), dimensions={}
  rs = f32[3,5] broadcast(rate), dimensions={}
  w2 = f32[8,8] multiply(w, rw)
  zero = f32[] constant(0)
  sums = f32[8] reduce(w2, zero), dimensions={0}, to_apply=sum
  b1 = f32[8] multiply(b, rb)
  b2 = f32[8] add(b1, sums)
  t2 = f32[3,5] multiply(s, rs)
  t3 = f32[15] reshape(t2)
  xw = f32[128,8] dot(x, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  yxw = f32[64,8] dot(y, xw), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b3 = f32[64,8] broadcast(b2), dimensions={1}
  z = f32[64,8] add(yxw, b3)
  z2 = f32[64] reduce(z, zero), dimensions={1}, to_apply=sum
  d1 = f32[8] sine(b2)
  d2 = f32[15] cosine(t3)
  d3 = f32[64] exponential(z2)
  ROOT r = (f32[8,8], f32[8], f32[3,5], f32[15], f32[64], f32[8], f32[15]) tuple(w2, b2, t2, t3, d3, d1, d2)
})";

TEST(Plans, SmallKernelsAreJoined) {
  const auto module = Parse(kSmallOnes);
  const Compiled stock = Compile(*module);
  EXPECT_EQ(stock.text.find("xla_cpu_small_call"), std::string::npos);
  CompilePlan plan;
  for (const CompileSite& site : stock.sites) {
    if (site.kind == CompileSiteKind::kSmallKernels) plan.choices.push_back({site.key, "join"});
  }
  ASSERT_FALSE(plan.choices.empty()) << stock.text;
  Sort(plan);
  const Compiled planned = Compile(*module, plan);
  EXPECT_EQ(planned.applied, plan.choices.size());
  EXPECT_NE(planned.fingerprint, stock.fingerprint);
  EXPECT_NE(planned.text.find("xla_cpu_small_call=\"true\""), std::string::npos) << planned.text;
  ExpectEqual(*module, plan);
  const auto race = Race(**Racer::Prepare(*module, 1), **Racer::Prepare(*module, 1, plan), {});
  ASSERT_TRUE(race.has_value()) << race.error().message;
  EXPECT_FALSE(race->same_executable);
}

TEST(Plans, ALayoutIsHad) {
  const auto module = Parse(kTransposeAdd);
  const CompileSite* site = nullptr;
  const Compiled stock = Compile(*module);
  site = Find(stock, CompileSiteKind::kLayout, "add");
  ASSERT_NE(site, nullptr);
  const CompilePlan plan{{{site->key, "0,1"}}, {}};
  const Compiled planned = Compile(*module, plan);
  EXPECT_EQ(stock.text.find("f32[512,256]{0,1} add("), std::string::npos) << stock.text;
  EXPECT_NE(planned.text.find("f32[512,256]{0,1} add("), std::string::npos) << planned.text;
  ExpectEqual(*module, plan);
}

TEST(Plans, AFreeEntryIsLaidOut) {
  const auto module = Parse(kTransposeAdd);
  EXPECT_EQ(Find(Compile(*module), CompileSiteKind::kEntryLayout, "parameter"), nullptr);
  const Compiled stock = Compile(*module, {}, true, /*free_entry=*/true);
  const CompileSite* const parameter = Find(stock, CompileSiteKind::kEntryLayout, "parameter");
  const CompileSite* const result = Find(stock, CompileSiteKind::kEntryLayout, "result");
  ASSERT_TRUE(parameter != nullptr && result != nullptr);
  EXPECT_EQ(parameter->choices[parameter->stock], "1,0");
  for (const CompileSite* site : {parameter, result}) {
    const CompilePlan plan{{{site->key, "0,1"}}, {}};
    const Compiled planned = Compile(*module, plan);
    EXPECT_EQ(planned.applied, 1u);
    EXPECT_NE(planned.fingerprint, stock.fingerprint);
    const std::string laid_out =
        site == parameter ? "entry_computation_layout={(f32[256,512]{0,1}, f32[512,256]{1,0})->"
                          : ")->f32[512,256]{0,1}}";
    EXPECT_NE(planned.text.find(laid_out), std::string::npos) << planned.text;
    ExpectEqual(*module, plan);
    const auto a = Racer::Prepare(*module, 1);
    const auto b = Racer::Prepare(*module, 1, plan);
    ASSERT_TRUE(a && b);
    const auto race = Race(**a, **b, {});
    ASSERT_TRUE(race.has_value()) << race.error().message;
    EXPECT_GT(race->pairs, 0);
  }
}

TEST(Plans, AFreeEntryOfTuplesIsLaidOut) {
  const auto module = Parse(R"(
HloModule m
ENTRY e {
  p = (f32[64,48], (f32[48,64], s32[])) parameter(0)
  x = f32[64,48] get-tuple-element(p), index=0
  rest = (f32[48,64], s32[]) get-tuple-element(p), index=1
  y = f32[48,64] get-tuple-element(rest), index=0
  t = f32[48,64] transpose(x), dimensions={1,0}
  u = f32[48,64] add(t, y)
  v = (f32[64,48]) tuple(x)
  ROOT r = (f32[48,64], (f32[64,48])) tuple(u, v)
})");
  CompilePlan plan;
  for (const CompileSite& site : Compile(*module, {}, true, true).sites) {
    if (site.kind == CompileSiteKind::kEntryLayout) plan.choices.push_back({site.key, "0,1"});
  }
  EXPECT_EQ(plan.choices.size(), 4u);
  Sort(plan);
  ExpectEqual(*module, plan);
}

TEST(Plans, ADotIsEmittedAnotherWay) {
  const auto module = Parse(kDot);
  const Compiled stock = Compile(*module);
  const CompileSite* site = Find(stock, CompileSiteKind::kDotStrategy, "dot");
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->choices[site->stock], "eigen");
  const CompilePlan plan{{{site->key, "naive"}}, {}};
  const Compiled planned = Compile(*module, plan);
  // The module is the same, the executable is not.
  EXPECT_EQ(planned.text, stock.text);
  EXPECT_NE(planned.fingerprint, stock.fingerprint);
  ExpectEqual(*module, plan);
}

TEST(Plans, WhatIsNotThereDecidesNothing) {
  const auto module = Parse(kTransposeAdd);
  const Compiled stock = Compile(*module);
  CompilePlan plan;
  plan.choices.push_back({12345, "keep"});
  for (const CompileSite& site : stock.sites) plan.choices.push_back({site.key, "no such value"});
  Sort(plan);
  const Compiled planned = Compile(*module, plan);
  EXPECT_EQ(planned.applied, 0u);
  EXPECT_EQ(planned.text, stock.text);
}

TEST(Plans, FlagsAreSet) {
  const auto module = Parse(kTransposeAdd);
  const Compiled stock = Compile(*module);
  CompilePlan plan;
  plan.flags = {{"xla_disable_hlo_passes", "fusion"}};
  const Compiled planned = Compile(*module, plan);
  EXPECT_EQ(stock.text.find("wrapped_add"), std::string::npos) << stock.text;
  EXPECT_NE(planned.text.find("wrapped_add"), std::string::npos) << planned.text;
  EXPECT_FALSE(stock.flag_choices.empty());
}

// XLA fuses the reduction for a library, and "Fusion kind not implemented on CPU" in a kernel.
TEST(Plans, ALibrarysReductionMayBeInALoopThatIsOneKernel) {
  const auto module = Parse(R"(
HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
loop {
  x = f32[512,512] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[512] reduce(x, zero), dimensions={1}, to_apply=add
}
ENTRY e {
  x = f32[512,512] parameter(0)
  ROOT c = f32[512] call(x), to_apply=loop,
      frontend_attributes={inlineable="false",xla_cpu_small_call="true"}
})");
  ExpectEqual(*module, {});
  CompilePlan plan;
  plan.flags = {{"xla_cpu_experimental_ynn_fusion_type", "LIBRARY_FUSION_TYPE_REDUCE"}};
  ExpectEqual(*module, plan);
}

TEST(Plans, WrongFlagsAreErrors) {
  const auto module = Parse(kDot);
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"xla_no_such_flag", "1"},
           {"xla_cpu_use_fusion_emitters", "maybe"},
           {"xla_cpu_prefer_vector_width", "wide"},
           {"xla_cpu_scheduler_type", "FAST"},
           {"xla_cpu_experimental_ynn_fusion_type", "DOT"}}) {
    CompilePlan plan;
    plan.flags = {{name, value}};
    const auto compiled = CompileUnderPlan(*module, plan, {});
    ASSERT_FALSE(compiled.has_value()) << name;
    EXPECT_EQ(compiled.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(compiled.error().message.find(name), std::string::npos);
    EXPECT_FALSE(Racer::Prepare(*module, 0, plan).has_value());
  }
}

TEST(Plans, PassesLeftOutShowInTheModuleOnly) {
  const auto module = Parse(kTransposeAdd);
  const Fingerprint stock = Compile(*module).fingerprint;
  const auto without = [&](const std::string& pass, const std::string& value = "true") {
    CompilePlan plan;
    plan.flags = {{std::string(kWithoutPass) + pass, value}};
    return Compile(*module, plan).fingerprint;
  };
  EXPECT_NE(without("fusion"), stock);
  EXPECT_EQ(without("fusion", "unset"), stock);
  EXPECT_EQ(without("conditional-to-select"), stock) << "there are no conditionals";
  CompilePlan both;
  both.flags = {{"xla_disable_hlo_passes", "fusion"},
                {std::string(kWithoutPass) + "conditional-to-select", "true"}};
  EXPECT_EQ(Compile(*module, both).fingerprint, without("fusion"));
}

TEST(Plans, PassesThatChangeTheProgramMayBeLeftOut) {
  const auto module = Parse(kTransposeAdd);
  std::set<std::string> passes;
  for (const FlagChoices& flag : Compile(*module).flag_choices) {
    if (IsWithoutPass(flag.name)) passes.insert(flag.name.substr(kWithoutPass.size()));
  }
  EXPECT_EQ(passes.count("fusion"), 1u);
  EXPECT_EQ(passes.count("while-loop-constant-sinking"), 0u) << "there are no loops";
  EXPECT_EQ(passes.count("copy-insertion"), 0u) << "without it results may be wrong";
  EXPECT_EQ(passes.count("layout-assignment"), 0u) << "libraries would read columns as rows";
}

TEST(Plans, EveryTunableFlagIsTakenAndComputesTheSame) {
  const auto module = Parse(kDot);
  for (const FlagChoices& flag : Compile(*module).flag_choices) {
    for (const std::string& value : flag.values) {
      CompilePlan plan;
      plan.flags = {{flag.name, value}};
      SCOPED_TRACE(flag.name + "=" + value);
      ExpectEqual(*module, plan);
    }
  }
}

TEST(Plans, RandomPlansComputeTheSame) {
  Rng rng(7);
  for (const std::string& file : DataPrograms()) {
    if (std::filesystem::file_size(file) > 100'000) continue;
    const auto module = Parse(Read(file));
    const auto stock = CompileUnderPlan(*module, {}, {});
    if (!stock) continue;
    for (int round = 0; round < 3; ++round) {
      CompilePlan plan;
      for (const CompileSite& site : stock->sites) {
        if (rng.Below(2) == 0) plan.choices.push_back({site.key, rng.Pick(site.choices)});
      }
      Sort(plan);
      SCOPED_TRACE(file);
      ExpectEqual(*module, plan);
    }
  }
}

TEST(Plans, ARaceTellsExecutablesApart) {
  const auto module = Parse(kTransposeAdd);
  const Compiled stock = Compile(*module);
  const CompileSite* site = Find(stock, CompileSiteKind::kFusionNode, "copy");
  ASSERT_NE(site, nullptr);
  RaceOptions options;
  options.budget_seconds = 0.5;
  const auto a = Racer::Prepare(*module, 0);
  const auto same = Racer::Prepare(*module, 0, {{{site->key, "stock"}}, {}});
  const auto b = Racer::Prepare(*module, 0, {{{site->key, "keep"}}, {}});
  ASSERT_TRUE(a && same && b);
  EXPECT_TRUE(Race(**a, **same, options)->same_executable);
  const auto report = Race(**a, **b, options);
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->same_executable);
  EXPECT_NE(report->executable_a, report->executable_b);
  EXPECT_GT(report->pairs, 0);
}

// One product of the parameter with itself, or sixty-four in a row.
std::string Products(int count) {
  std::string text = "HloModule m\nENTRY e {\n  x0 = f32[96,96] parameter(0)\n";
  for (int k = 0; k < count; ++k) {
    const std::string root = k + 1 == count ? "  ROOT x" : "  x";
    text += root + std::to_string(k + 1) + " = f32[96,96] dot(x" + std::to_string(k) +
            ", x0), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  }
  return text + "}\n";
}

TEST(Plans, ARaceEndsWhereItIsClear) {
  const auto few = Parse(Products(1)), many = Parse(Products(64));
  const auto fast = Racer::Prepare(*few, 0), slow = Racer::Prepare(*many, 0);
  ASSERT_TRUE(fast && slow);
  RaceOptions options;
  options.least_pairs = 40;
  options.clear = 1.5;
  // On a busy machine it is not clear each time.
  const auto race = [&](const Racer& a, const Racer& b) {
    StatusOr<RaceReport> report = Race(a, b, options);
    for (int i = 0; i < 9 && report && report->pairs >= 40; ++i) report = Race(a, b, options);
    return report;
  };
  const auto lost = race(**fast, **slow), won = race(**slow, **fast);
  ASSERT_TRUE(lost && won);
  EXPECT_LT(lost->speedup, 1);
  EXPECT_LT(lost->pairs, 6) << "that b is slower takes three";
  EXPECT_GT(won->low, 1);
  EXPECT_GE(won->pairs, 6) << "fewer have no interval";
  EXPECT_LT(won->pairs, 40);
  options.clear = 0;
  EXPECT_GE(Race(**slow, **fast, options)->pairs, 40);
}

}  // namespace
}  // namespace hone::compiler
