// The search of a program: what is tried, in which order, within which budget.
#include "tune/tune_program.h"

#include <gtest/gtest.h>

#include "search/choices/choices.h"
#include "toy_programs.h"

namespace hone::tune {
namespace {

TEST(TuneProgramTest, FindsWhatHelpsAndNothingElse) {
  ToyEvaluator toy = MakeSeparable();
  const TuneResult result = TuneProgram(toy, Seconds(300));
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_EQ(result.verified, "true");
  EXPECT_GT(result.race.low, 1);
  EXPECT_NEAR(toy.Speedup(result.plan), std::exp(0.45), 0.02);
  EXPECT_EQ(result.plan.compile.choices.size(), 2u) << TunePlanToJson(result.plan);
  EXPECT_EQ(result.plan.compile.flags.size(), 1u);
  EXPECT_EQ(toy.restarts, 3);
  EXPECT_EQ(result.gains.size(), 3u);
  EXPECT_EQ(result.lessons.size(), 3u);
  EXPECT_GT(result.busy_seconds, 0.8 * result.seconds);
}

TEST(TuneProgramTest, RacesFirstWhatReplacesDearKernels) {
  ToyEvaluator toy([](const Decided&) { return 0.0; });
  toy.AddPass("implement:cheap", {"sort"});
  toy.AddPass("implement:dear", {"copy"});
  toy.kernels = {{"", "copy", 0.01, 1}};  // the toy's modules are one copy without a name
  TuneProgram(toy, Seconds(100));
  ASSERT_FALSE(toy.raced.empty());
  ASSERT_EQ(toy.raced[0].passes.size(), 1u);
  EXPECT_EQ(toy.raced[0].passes[0].pass, "implement:dear");
}

TEST(TuneProgramTest, DearFlagsWaitForWhatPromisesMore) {
  for (const double compile_seconds : {0.01, 1.0}) {
    ToyEvaluator toy([](const Decided&) { return 0.0; });
    toy.AddFlag("one", {"false", "true"}, /*first=*/true);
    toy.AddFlag("other", {"false", "true"}, /*first=*/true);
    toy.AddFlag("third", {"false", "true"}, /*first=*/true);
    toy.AddPass("implement:dear", {}, {{"", "", "copy"}});  // the copy without a name
    toy.kernels = {{"", "copy", 0.01, 1}};
    toy.compile_seconds = compile_seconds;
    TuneProgram(toy, Seconds(20));
    ASSERT_FALSE(toy.raced.empty());
    EXPECT_EQ(toy.raced[0].passes.empty(), compile_seconds < 1) << compile_seconds;
  }
}

TEST(TuneProgramTest, LongKernelsAreTooLongToMeasure) {
  ToyEvaluator toy = MakeSeparable();
  toy.kernels = {{"", "copy", 9, 1}};
  const TuneResult result = TuneProgram(toy, Seconds(100));
  EXPECT_FALSE(result.kept);
  EXPECT_EQ(result.stop, TuneStop::kNotTunable);
  EXPECT_NE(result.reason.find("too long"), std::string::npos) << result.reason;
  EXPECT_TRUE(toy.raced.empty());
}

// Forty fusion sites, of which the lightest matters; Elements knows which.
ToyEvaluator MakeNeedle() {
  ToyEvaluator toy([](const Decided& decided) {
    return 0.01 * static_cast<double>(decided.size()) - (Is(decided, "1", "keep") ? 0.4 : 0);
  });
  for (SiteKey key = 1; key <= 40; ++key) {
    toy.AddSite(key, CompileSiteKind::kFusionEdge, {"fuse", "keep"}, 1000 * key);
  }
  return toy;
}

double Elements(const cost::CostGraph& module, const std::vector<NamedChoice>&) {
  return static_cast<double>(module.nodes.at(0).dimensions[0]);
}

TEST(TuneProgramTest, AnEstimateSparesMeasuringWhatItThinksSlow) {
  TuneOptions options = Seconds(300);
  options.budget_evaluations = 12;
  ToyEvaluator alone = MakeNeedle();
  EXPECT_FALSE(TuneProgram(alone, options).kept) << "it was to be found late, by its weight";
  ToyEvaluator ranked = MakeNeedle();
  options.estimate = Elements;
  const TuneResult result = TuneProgram(ranked, options);
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_NEAR(ranked.Speedup(result.plan), std::exp(0.39), 0.01);
  EXPECT_GT(result.passed_over, 10);
  EXPECT_LE(result.evaluations, 12);
}

TEST(TuneProgramTest, AWrongEstimateOnlyCosts) {
  TuneOptions options = Seconds(400);
  options.estimate = [](const cost::CostGraph& module, const std::vector<NamedChoice>& choices) {
    return -Elements(module, choices);
  };
  for (options.seed = 1; options.seed <= 5; ++options.seed) {
    ToyEvaluator toy = MakeSeparable();
    const TuneResult result = TuneProgram(toy, options);
    ASSERT_TRUE(result.kept) << options.seed << ": " << result.reason;
    EXPECT_GT(result.race.low, 1);
  }
}

TEST(TuneProgramTest, EveryStrategyFindsSome) {
  for (const choices::ChooserInfo& info : choices::Choosers()) {
    ToyEvaluator toy = MakeSeparable();
    TuneOptions options = Seconds(300);
    options.budget_evaluations = 150;
    options.strategy = std::string(info.name);
    const TuneResult result = TuneProgram(toy, options);
    EXPECT_TRUE(result.kept) << info.name << ": " << result.reason;
    EXPECT_GT(toy.Speedup(result.plan), 1.15) << info.name;
  }
}

// Candidates that hang cost a few seconds each, and about the budget together, whatever it is.
TEST(TuneProgramTest, WhatHangsCostsNoMoreThanTheBudgetAllows) {
  for (const double budget : {3.0, 10.0, 30.0}) {
    ToyEvaluator toy = MakeSeparable();
    toy.hangs = [](const Decided& decided) { return !decided.empty(); };
    const TuneResult result = TuneProgram(toy, Seconds(budget));
    EXPECT_FALSE(result.kept);
    EXPECT_LT(result.seconds, budget + 4) << budget;
    EXPECT_GE(result.failures, 1);
    if (result.stop == TuneStop::kNotTunable) continue;  // so many times, it is not for the budget
    EXPECT_NE(result.reason.find("where there is more time, such as --budget"), std::string::npos)
        << result.reason;
  }
}

// What takes a minute to compile does not cost a budget of seconds more than half of that.
TEST(TuneProgramTest, WhatIsSlowToCompileNeedsABudget) {
  ToyEvaluator toy = MakeSeparable();
  toy.compile_seconds = 60;
  const TuneResult hurried = TuneProgram(toy, Seconds(2));
  EXPECT_LE(hurried.seconds, 30);
  EXPECT_NE(
      hurried.reason.find("too long for a budget of 2 s; give it more time, such as --budget"),
      std::string::npos)
      << hurried.reason;
  EXPECT_GT(TuneProgram(toy, Seconds(600)).evaluations, 0);
}

// A slow stock compiler makes nobody impatient.
TEST(TuneProgramTest, WhatCompilesAsLongAsTheStockModuleIsWaitedFor) {
  for (const auto& [budget, waited] : {std::pair(5.0, 6.0), std::pair(100.0, 12.0)}) {
    ToyEvaluator toy = MakeSeparable();
    toy.compile_seconds = 4;
    double first = 0;
    toy.on_race = [&](const RaceOptions& options) {
      if (first == 0) first = options.candidate_seconds;
    };
    TuneProgram(toy, Seconds(budget));
    EXPECT_GE(first, waited) << budget;
    EXPECT_LT(first, 4 * waited) << budget;
  }
}

TEST(TuneProgramTest, GoesOnWherePlansCrashTheCompiler) {
  ToyEvaluator toy = MakeSeparable();
  toy.crashes = [](const Decided& decided) {
    return decided.count("7") != 0 || decided.count("13") != 0;
  };
  const TuneResult result = TuneProgram(toy, Seconds(300));
  EXPECT_TRUE(result.kept) << result.reason;
  EXPECT_GT(result.failures, 0);
  EXPECT_GT(toy.Speedup(result.plan), 1.5);
}

TEST(TuneProgramTest, TheBudgetIsObeyed) {
  for (const double budget : {20.0, 60.0, 200.0}) {
    ToyEvaluator toy = MakeSeparable();
    toy.compile_seconds = 0.5;
    const TuneResult result = TuneProgram(toy, Seconds(budget));
    EXPECT_LT(result.seconds, 1.15 * budget + 5) << budget;
  }
}

// What takes all of the budget to find out about is not what nothing is faster than.
TEST(TuneProgramTest, ABudgetInWhichNothingCanBeMeasured) {
  ToyEvaluator toy = MakeSeparable();
  toy.compile_seconds = 20;
  const TuneResult result = TuneProgram(toy, Seconds(15));
  EXPECT_FALSE(result.kept);
  EXPECT_EQ(result.evaluations, 0);
  EXPECT_NE(result.reason.find("nothing could be measured in the budget"), std::string::npos)
      << result.reason;
  EXPECT_NE(result.reason.find("--budget 80s"), std::string::npos) << result.reason;
  EXPECT_EQ(result.reason.find("faster"), std::string::npos) << result.reason;
}

TEST(TuneProgramTest, OnePlanIsTriedWhateverIsLeft) {
  ToyEvaluator toy = MakeSeparable();
  toy.compile_seconds = 8;
  EXPECT_GE(TuneProgram(toy, Seconds(10)).evaluations, 1);
}

TEST(TuneProgramTest, EvaluationsAreABudgetToo) {
  for (const Mode mode : {Mode::kJoint, Mode::kSequential}) {
    ToyEvaluator toy = MakeSeparable();
    TuneOptions options = Seconds(1e6);
    options.budget_evaluations = 40;
    options.mode = mode;
    const TuneResult result = TuneProgram(toy, options);
    EXPECT_LE(result.evaluations, 40);
    EXPECT_GE(result.evaluations, 30);
  }
}

TEST(TuneProgramTest, AnInterruptKeepsTheBestSoFar) {
  ToyEvaluator toy = MakeSeparable();
  std::atomic<bool> interrupted{false};
  TuneOptions options = Seconds(1e5);
  options.interrupted = &interrupted;
  options.progress = [&](const TuneProgress& now) { interrupted = now.evaluations >= 60; };
  const TuneResult result = TuneProgram(toy, options);
  EXPECT_EQ(result.stop, TuneStop::kInterrupted);
  EXPECT_TRUE(result.kept) << result.reason;
  EXPECT_EQ(result.verified, "true");
  EXPECT_LT(result.seconds, 200);
}

TEST(TuneProgramTest, ProgramsThatRunTooLongAreLeftAlone) {
  ToyEvaluator toy = MakeSeparable();
  toy.run_seconds = 5;
  const TuneResult result = TuneProgram(toy, Seconds(600));
  EXPECT_FALSE(result.kept);
  EXPECT_EQ(result.stop, TuneStop::kNotTunable);
  EXPECT_NE(result.reason.find("too long"), std::string::npos) << result.reason;
  EXPECT_LE(result.races, 2);
}

TEST(TuneProgramTest, ProgramsThatDoNotRunHereAreLeftAlone) {
  ToyEvaluator toy = MakeSeparable();
  toy.crashes = [](const Decided& decided) { return !decided.empty(); };
  const TuneResult result = TuneProgram(toy, Seconds(600));
  EXPECT_FALSE(result.kept);
  EXPECT_EQ(result.stop, TuneStop::kNotTunable);
  EXPECT_NE(result.reason.find("XLA aborted"), std::string::npos) << result.reason;
  ToyEvaluator broken = MakeSeparable();
  broken.crashes = [](const Decided&) { return true; };
  const TuneResult nothing = TuneProgram(broken, Seconds(600));
  EXPECT_FALSE(nothing.kept);
  EXPECT_EQ(nothing.stop, TuneStop::kNotTunable);
  TuneOptions hurried = Seconds(600);
  hurried.budget_evaluations = 1;
  const TuneResult once = TuneProgram(broken, hurried);
  EXPECT_EQ(once.stop, TuneStop::kNotTunable) << once.reason;
  EXPECT_NE(once.reason.find("XLA aborted"), std::string::npos) << once.reason;
}

TEST(TuneProgramTest, TakesImplementationsThatHelp) {
  ToyEvaluator toy([](const Decided& decided) {
    double time = 0;
    if (Is(decided, "+implement:good", "on")) time -= 0.8;
    if (Is(decided, "+implement:bad", "on")) time += 0.8;
    if (Is(decided, "1", "keep")) time -= 0.1;
    return time;
  });
  toy.AddPass("implement:bad");
  toy.AddPass("implement:good");
  toy.AddSite(1, CompileSiteKind::kFusionNode, {"stock", "keep"});
  const TuneResult result = TuneProgram(toy, Seconds(120));
  ASSERT_TRUE(result.kept) << result.reason;
  ASSERT_EQ(result.plan.passes.size(), 1u);
  EXPECT_EQ(result.plan.passes[0].pass, "implement:good");
  EXPECT_NEAR(toy.Speedup(result.plan), std::exp(0.9), 0.02);
}

// The good layout hurts until fusion is decided otherwise: settled one after the other, layout
// stays.
ToyEvaluator MakeInteracting(uint64_t seed) {
  ToyEvaluator toy(
      [](const Decided& decided) {
        const bool layout = Is(decided, "1", "0,1");
        const bool fusion = Is(decided, "2", "keep");
        double time = layout && fusion ? -0.5 : layout ? 0.1 : fusion ? -0.05 : 0;
        for (const auto& [name, value] : decided) {
          if (name != "1" && name != "2") time += 0.01;
        }
        return time;
      },
      seed);
  toy.AddSite(1, CompileSiteKind::kLayout, {"stock", "0,1"});
  toy.AddSite(2, CompileSiteKind::kFusionEdge, {"fuse", "keep"});
  for (SiteKey key = 3; key <= 8; ++key) {
    toy.AddSite(key, CompileSiteKind::kLayout, {"stock", "0,1"});
    toy.AddSite(key + 10, CompileSiteKind::kFusionEdge, {"fuse", "keep"});
  }
  return toy;
}

TEST(TuneProgramTest, JointBeatsSequentialWhereStagesInteract) {
  double joint = 0;
  double sequential = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Mode mode : {Mode::kJoint, Mode::kSequential}) {
      ToyEvaluator toy = MakeInteracting(seed);
      TuneOptions options = Seconds(1e6);
      options.budget_evaluations = 150;
      options.seed = seed;
      options.mode = mode;
      const TuneResult result = TuneProgram(toy, options);
      (mode == Mode::kJoint ? joint : sequential) += std::log(toy.Speedup(result.plan));
    }
  }
  EXPECT_GT(joint, sequential + 0.5);
}

TEST(TuneProgramTest, WhatOtherProgramsTaughtHelps) {
  const auto tune = [](const std::vector<store::Lesson>& lessons) {
    ToyEvaluator toy([](const Decided& decided) {
      double time = 0;
      for (SiteKey key = 1; key <= 40; ++key) {
        if (!Is(decided, std::to_string(key), "4")) continue;
        time += key % 10 == 0 ? -0.1 : 0.05;
      }
      return time;
    });
    for (SiteKey key = 1; key <= 40; ++key) {
      toy.AddSite(key, CompileSiteKind::kPartitions, {"1", "2", "3", "4"});
    }
    TuneOptions options = Seconds(1e6);
    options.budget_evaluations = 12;
    options.lessons = lessons;
    return std::log(toy.Speedup(TuneProgram(toy, options).plan));
  };
  std::vector<store::Lesson> lessons;
  for (int key = 10; key <= 40; key += 10) {
    char text[17];
    std::snprintf(text, sizeof(text), "%016x", key);
    lessons.push_back({"tiles", text, "4", 0.4, "another"});
  }
  EXPECT_GT(tune(lessons), tune({}) + 0.2);
  EXPECT_NEAR(tune(lessons), 0.4, 0.01);
}

TEST(TuneProgramTest, MeasurementsOfAnEarlierRunAreNotTakenAgain) {
  const auto make = [] {
    ToyEvaluator toy(
        [](const Decided& decided) { return 0.1 * static_cast<double>(decided.size()); });
    for (SiteKey key = 1; key <= 5; ++key) {
      toy.AddSite(key, CompileSiteKind::kLayout, {"stock", "0,1"});
    }
    return toy;
  };
  std::vector<store::Measurement> known;
  TuneOptions options = Seconds(120);
  options.record = [&](const store::Measurement& one, const store::PlanRow& plan,
                       const store::ModuleRow& module) {
    EXPECT_EQ(one.module, module.module);
    EXPECT_FALSE(module.graph.empty());
    EXPECT_FALSE(plan.text.empty());
    EXPECT_FALSE(plan.choices.empty());
    known.push_back(one);
  };
  ToyEvaluator first = make();
  EXPECT_EQ(TuneProgram(first, options).races, 31);
  ASSERT_EQ(known.size(), 31u);
  options.known = known;
  options.record = nullptr;
  ToyEvaluator second = make();
  const TuneResult after = TuneProgram(second, options);
  EXPECT_EQ(after.races, 0);
  EXPECT_EQ(after.evaluations, 31);
}

}  // namespace
}  // namespace hone::tune
