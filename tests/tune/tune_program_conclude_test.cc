// What the search of a program found is held to its promise, or given up: confirmed in fresh
// processes, compared, and told of.
#include <gtest/gtest.h>

#include "toy_programs.h"
#include "tune/ended.h"
#include "tune/tune_program.h"

namespace hone::tune {
namespace {

TEST(TuneProgramTest, NoiseAloneIsStock) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ToyEvaluator toy([](const Decided&) { return 0.0; }, seed);
    toy.noise = 0.2;
    for (SiteKey key = 1; key <= 12; ++key) {
      toy.AddSite(key, CompileSiteKind::kFusionEdge, {"fuse", "keep"});
    }
    const TuneResult result = TuneProgram(toy, Seconds(60));
    // By the 95 % interval one in forty may be kept, and only of those that won before.
    if (!result.kept) {
      EXPECT_TRUE(result.plan.empty());
      EXPECT_FALSE(result.reason.empty());
      EXPECT_TRUE(result.lessons.empty());
    } else {
      ADD_FAILURE() << "seed " << seed << " was kept at " << result.race.speedup;
    }
  }
}

TEST(TuneProgramTest, ALossIsNeverKept) {
  ToyEvaluator toy(
      [](const Decided& decided) { return 0.1 * static_cast<double>(decided.size()); });
  for (SiteKey key = 1; key <= 5; ++key) {
    toy.AddSite(key, CompileSiteKind::kLayout, {"stock", "0,1"});
  }
  const TuneResult result = TuneProgram(toy, Seconds(120));
  EXPECT_FALSE(result.kept);
  EXPECT_EQ(result.stop, TuneStop::kExhausted);
  EXPECT_EQ(result.evaluations, 31) << "all but the stock plan, each once";
}

TEST(TuneProgramTest, WhatIsFasterInSomeProcessesOnlyIsNotKept) {
  ToyEvaluator toy = MakeSeparable();
  toy.unlucky_process = 2;
  const TuneResult result = TuneProgram(toy, Seconds(300));
  EXPECT_FALSE(result.kept);
  EXPECT_GE(toy.restarts, 2);
  EXPECT_NE(result.reason.find("not so again"), std::string::npos) << result.reason;
}

TEST(TuneProgramTest, ARaceThatDecidesNothingIsRepeated) {
  ToyEvaluator toy = MakeSeparable();
  toy.disturbed = {1, 3};
  TuneResult result = TuneProgram(toy, Seconds(300));
  EXPECT_TRUE(result.kept) << result.reason;
  ToyEvaluator always = MakeSeparable();
  for (int process = 1; process < 100; ++process) always.disturbed.push_back(process);
  result = TuneProgram(always, Seconds(300));
  EXPECT_FALSE(result.kept);
  EXPECT_NE(result.reason.find("too noisy"), std::string::npos) << result.reason;
  EXPECT_LT(always.restarts, 20);
}

// One race more where the budget is over, of what is likely to be much faster.
TEST(TuneProgramTest, WhatIsMuchFasterIsNotLostToADisturbanceAtTheEnd) {
  for (const bool again : {false, true}) {
    ToyEvaluator toy = MakeSeparable();
    toy.first_compile_seconds = toy.compile_seconds = 0.5;
    toy.run_seconds = 0.1;
    toy.disturbed = {1};
    toy.disturbed_speedup = 1.4;
    if (again) toy.disturbed.push_back(2);
    const TuneResult result = TuneProgram(toy, Seconds(30));
    EXPECT_EQ(result.kept, !again) << result.reason << result.seconds;
    EXPECT_LE(toy.restarts, 2);
    EXPECT_LE(result.seconds, 1.5 * 30);
  }
}

TEST(TuneProgramTest, LessIsKeptForFreshProcessesThatKnowKernels) {
  int64_t evaluations[2];
  for (const bool last : {false, true}) {
    ToyEvaluator toy = MakeSeparable();
    toy.first_compile_seconds = 5;
    toy.compile_seconds = 0.3;
    toy.they_last = last;
    const TuneResult result = TuneProgram(toy, Seconds(120));
    EXPECT_TRUE(result.kept);
    EXPECT_LE(result.seconds, 120);
    evaluations[last] = result.evaluations;
  }
  EXPECT_GT(evaluations[true], evaluations[false]);
}

// What is best shows only once the search is over.
TEST(TuneProgramTest, WhatTheEndLeavesOfTheBudgetIsSearchedToo) {
  const ToyEvaluator* running = nullptr;
  ToyEvaluator toy([&](const Decided& decided) {
    const bool late = running != nullptr && running->restarts > 0;
    const double log_time = Is(decided, "1", "4") ? -0.1 : 0;
    return decided.size() >= 3 ? log_time + (late ? -0.3 : 0.01) : log_time;
  });
  running = &toy;
  for (SiteKey key = 1; key <= 20; ++key) {
    toy.AddSite(key, CompileSiteKind::kLayout, {"0", "1", "2", "3", "4"});
  }
  toy.compile_seconds = 0.2;
  toy.run_seconds = 0.005;
  const TuneResult result = TuneProgram(toy, Seconds(400));
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_GE(ToyEvaluator::Decided(result.plan).size(), 3u);
  EXPECT_GT(result.race.speedup, 1.3);
  EXPECT_EQ(result.verified, "true");
  EXPECT_GT(toy.restarts, 3) << "it is confirmed in processes of its own";
  EXPECT_LE(result.seconds, 400);
  ASSERT_FALSE(result.others.empty()) << "what was kept before";
}

// One site that matters most, one that matters, and one that is to be tried.
ToyEvaluator MakeTwoWins() {
  ToyEvaluator toy([](const Decided& decided) {
    return (Is(decided, "1", "keep") ? -0.5 : 0) + (Is(decided, "2", "keep") ? -0.2 : 0);
  });
  for (SiteKey key = 1; key <= 3; ++key) {
    toy.AddSite(key, CompileSiteKind::kFusionEdge, {"fuse", "keep"}, 1000 * key);
  }
  return toy;
}

TEST(TuneProgramTest, WhatDoesNotRunInAFreshProcessGivesWayToTheNext) {
  for (const bool hurried : {false, true}) {
    ToyEvaluator toy = MakeTwoWins();
    Decided first;  // what is confirmed first crashes
    toy.crashes_afresh = [&](const Decided& decided) {
      if (first.empty()) first = decided;
      return !decided.empty() && decided == first;
    };
    TuneOptions options = Seconds(200);
    std::atomic<bool> interrupted{false};
    options.interrupted = &interrupted;
    options.progress = [&](const TuneProgress& progress) {
      interrupted = interrupted || (hurried && progress.phase == "confirm");
    };
    const TuneResult result = TuneProgram(toy, options);
    ASSERT_FALSE(result.rejected.empty());
    EXPECT_NE(result.rejected[0].find("does not run in a fresh process"), std::string::npos)
        << result.rejected[0];
    ASSERT_TRUE(result.kept) << result.reason;
    EXPECT_TRUE(result.reason.empty()) << result.reason;
    EXPECT_EQ(result.verified, "true");
    EXPECT_GT(toy.Speedup(result.plan), 1.1);
  }
}

// A fresh process has to compile it anew, beside what else it does.
TEST(TuneProgramTest, WhatIsConfirmedIsWaitedForWhateverIsLeftOfTheBudget) {
  ToyEvaluator toy = MakeSeparable();
  double least = 1e9;
  toy.on_race = [&](const RaceOptions& options) {
    if (toy.restarts > 0) least = std::min(least, options.candidate_seconds);
  };
  const TuneResult result = TuneProgram(toy, Seconds(6));
  EXPECT_TRUE(result.kept) << result.reason;
  EXPECT_GE(least, 15);
}

TEST(TuneProgramTest, WhatIsNotFasterAgainGivesWayToTheNext) {
  ToyEvaluator toy = MakeTwoWins();
  Decided first;  // what is confirmed first
  toy.loses_afresh = [&](const Decided& decided) {
    if (first.empty()) first = decided;
    return !decided.empty() && decided == first;
  };
  const TuneResult result = TuneProgram(toy, Seconds(200));
  ASSERT_FALSE(result.rejected.empty());
  EXPECT_NE(result.rejected[0].find("not so again"), std::string::npos) << result.rejected[0];
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_TRUE(result.reason.empty()) << result.reason;
  EXPECT_GT(toy.Speedup(result.plan), 1.1);
}

TEST(TuneProgramTest, WhereNothingRunsInAFreshProcessItIsStock) {
  ToyEvaluator toy = MakeTwoWins();
  toy.crashes_afresh = [](const Decided& decided) { return !decided.empty(); };
  const TuneResult result = TuneProgram(toy, Seconds(200));
  EXPECT_FALSE(result.kept);
  EXPECT_TRUE(result.plan.empty());
  EXPECT_NE(result.reason.find("does not run in a fresh process"), std::string::npos)
      << result.reason;
  EXPECT_GE(result.rejected.size(), 2u);
}
TEST(TuneProgramTest, EachExecutableIsLookedAtBrieflyOnce) {
  ToyEvaluator toy(
      [](const Decided& decided) { return 0.1 * static_cast<double>(decided.size()); });
  for (SiteKey key = 1; key <= 5; ++key) {
    toy.AddSite(key, CompileSiteKind::kLayout, {"stock", "0,1"});
  }
  (void)TuneProgram(toy, Seconds(120));
  for (const auto& [plan, times] : toy.races) EXPECT_EQ(times, 1);
}

TEST(TuneProgramTest, NothingIsBuiltUponWhatComputesSomethingElse) {
  ToyEvaluator toy = MakeSeparable();
  toy.computes_wrong = [](const Decided& decided) { return Is(decided, "fast_loops", "true"); };
  const TuneResult result = TuneProgram(toy, Seconds(300));
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_EQ(result.verified, "true");
  EXPECT_TRUE(result.plan.compile.flags.empty());
  EXPECT_NEAR(toy.Speedup(result.plan), std::exp(0.3), 0.02);
  EXPECT_FALSE(result.rejected.empty());
  for (const store::Lesson& lesson : result.lessons) EXPECT_NE(lesson.key, "fast_loops");
}

// As under bf16 where tokens are drawn: whatever rounds otherwise cannot be shown to be right.
TEST(TuneProgramTest, NothingIsBuiltUponWhatAComparisonShowsNothingOf) {
  ToyEvaluator toy = MakeSeparable();
  toy.shows_nothing = [](const Decided& decided) { return Is(decided, "fast_loops", "true"); };
  const TuneResult result = TuneProgram(toy, Seconds(300));
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_EQ(result.verified, "true");
  EXPECT_TRUE(result.plan.compile.flags.empty());
  EXPECT_NEAR(toy.Speedup(result.plan), std::exp(0.3), 0.02);
}

TEST(TuneProgramTest, WhatNothingIsShownOfIsComparedAtTheEnd) {
  ToyEvaluator toy = MakeSeparable();
  toy.shows_nothing = [](const Decided& decided) { return !decided.empty(); };
  const TuneResult result = TuneProgram(toy, Seconds(300));
  EXPECT_FALSE(result.kept);
  EXPECT_EQ(result.verified, "unknown");
  EXPECT_NE(result.reason.find("what is faster is not verified"), std::string::npos)
      << result.reason;
}

TEST(TuneProgramTest, NothingIsBuiltUponWhatTakesTooLongToCompare) {
  ToyEvaluator toy = MakeSeparable();
  toy.compares_slowly = [](const Decided& decided) { return Is(decided, "fast_loops", "true"); };
  const TuneResult result = TuneProgram(toy, Seconds(300));
  ASSERT_TRUE(result.kept) << result.reason;
  EXPECT_EQ(result.verified, "true");
  EXPECT_TRUE(result.plan.compile.flags.empty());
  ASSERT_FALSE(result.rejected.empty());
  EXPECT_NE(result.rejected[0].find("not known to compute the same"), std::string::npos);
}

TEST(TuneProgramTest, AComparisonThatBreaksOffKeepsToAShortBudget) {
  ToyEvaluator toy = MakeSeparable();
  toy.compares_slowly = [](const Decided& decided) { return !decided.empty(); };
  const TuneResult result = TuneProgram(toy, Seconds(8));
  EXPECT_FALSE(result.kept);
  EXPECT_LT(result.seconds, 60);
}

TEST(TuneProgramTest, WhatIsNotVerifiedIsNotKept) {
  ToyEvaluator toy = MakeSeparable();
  toy.computes_wrong = [](const Decided& decided) { return !decided.empty(); };
  const TuneResult result = TuneProgram(toy, Seconds(300));
  EXPECT_FALSE(result.kept);
  EXPECT_TRUE(result.plan.empty());
  EXPECT_FALSE(result.reason.empty());
}
// Where nothing is found, nothing is kept back to confirm it but what one more plan would need.
TEST(TuneProgramTest, TheEndIsNotKeptFreeForNothing) {
  ToyEvaluator poor(
      [](const Decided& decided) { return 0.1 * static_cast<double>(decided.size()); });
  for (SiteKey key = 1; key <= 60; ++key) {
    poor.AddSite(key, CompileSiteKind::kFusionEdge, {"fuse", "keep"}, 1000);
  }
  poor.compile_seconds = 1.5;
  const TuneResult result = TuneProgram(poor, Seconds(90));
  EXPECT_FALSE(result.kept);
  EXPECT_GT(result.seconds, 0.85 * 90);
  EXPECT_NE(result.reason.find("nothing is faster than the stock compiler's way, of"),
            std::string::npos)
      << result.reason;
}

TEST(TuneProgramTest, WhatTookTooLongIsTold) {
  ToyEvaluator poor(
      [](const Decided& decided) { return 0.1 * static_cast<double>(decided.size()); });
  poor.AddSite(1, CompileSiteKind::kFusionEdge, {"fuse", "keep"}, 1000);
  poor.AddPass("implement:long");
  poor.hangs = [](const Decided& decided) { return decided.count("+implement:long") != 0; };
  const TuneResult result = TuneProgram(poor, Seconds(60));
  EXPECT_FALSE(result.kept);
  EXPECT_NE(result.reason.find("plans took too long to compile"), std::string::npos)
      << result.reason;
}

TEST(TuneProgramTest, EveryEndHasItsReason) {
  ToyEvaluator toy = MakeSeparable();
  EXPECT_FALSE(TuneProgram(toy, Seconds(60)).ended.empty());
  TuneOptions few = Seconds(1000);
  few.budget_evaluations = 5;
  ToyEvaluator other = MakeSeparable();
  EXPECT_EQ(TuneProgram(other, few).ended, "the budget of 5 plans is spent");
  ToyEvaluator small([](const Decided&) { return 0.0; });
  small.AddFlag("one", {"false", "true"});
  const TuneResult all = TuneProgram(small, Seconds(1000));
  EXPECT_EQ(all.stop, TuneStop::kExhausted);
  EXPECT_NE(all.ended.find("every plan"), std::string::npos) << all.ended;
  // A long evaluation does not fit in what is left.
  ToyEvaluator slow(
      [](const Decided& decided) { return 0.1 * static_cast<double>(decided.size()); });
  for (SiteKey key = 1; key <= 60; ++key) {
    slow.AddSite(key, CompileSiteKind::kFusionEdge, {"fuse", "keep"}, 1000);
  }
  slow.compile_seconds = 12;
  const TuneResult early = TuneProgram(slow, Seconds(100));
  EXPECT_EQ(early.stop, TuneStop::kTime);
  EXPECT_NE(early.ended.find("before the budget of 100 s: another plan takes about"),
            std::string::npos)
      << early.ended << " " << early.seconds;
}

TEST(TuneProgramTest, WhatLookedFasterTooIsTold) {
  ToyEvaluator toy = MakeSeparable();
  const TuneResult result = TuneProgram(toy, Seconds(300));
  ASSERT_TRUE(result.kept);
  ASSERT_FALSE(result.others.empty());
  for (const RunnerUp& other : result.others) {
    EXPECT_FALSE(other.plan == result.plan);
    EXPECT_GT(other.speedup, 1);
  }
}

TEST(TuneProgramTest, NoiseIsMetWithAdvice) {
  EXPECT_NE(AgainstNoise(0.0002).find("0.2 ms only"), std::string::npos) << AgainstNoise(0.0002);
  EXPECT_NE(AgainstNoise(0.1).find("quiet machine"), std::string::npos);
  EXPECT_EQ(AgainstNoise(0.1).find("ms only"), std::string::npos);
}

}  // namespace
}  // namespace hone::tune
