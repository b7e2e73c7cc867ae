// Tasks: which are dear, what wins in each, and what plan for the whole is put together from that.
#include "tune/tasks.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "toy_evaluator.h"

namespace hone::tune {
namespace {

using Decided = std::map<std::string, std::string>;

bool Is(const Decided& decided, const std::string& name, const std::string& value) {
  const auto found = decided.find(name);
  return found != decided.end() && found->second == value;
}

ProgramTask TaskOf(const std::string& text, int64_t runs = 1) {
  return {text, "dot.1", runs, runs};
}

// A program and its tasks, each a toy of its own, by the text of the task.
class ToyWhole final : public Evaluator {
 public:
  explicit ToyWhole(ToyEvaluator::Formula formula) : whole(std::move(formula)) {}

  ToyEvaluator& Add(const ProgramTask& task, ToyEvaluator::Formula formula) {
    tasks.push_back(task);
    toys[task.text] = std::make_unique<ToyEvaluator>(std::move(formula));
    return *toys[task.text];
  }

  StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted& wanted) override {
    return whole.Alternatives(wanted);
  }
  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) override {
    return whole.Compile(plan, options);
  }
  StatusOr<std::vector<KernelTime>> Profile(const TunePlan& a, double b, double c) override {
    return whole.Profile(a, b, c);
  }
  StatusOr<ProgramGraph> Describe(const std::string& text) override { return whole.Describe(text); }
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b, const RaceOptions& c) override {
    return whole.Race(a, b, c);
  }
  StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                     const CompareOptions& c) override {
    return whole.Compare(a, b, c);
  }
  std::vector<ProgramTask> Cut(size_t most) override {
    EXPECT_LE(tasks.size(), most);
    return tasks;
  }
  StatusOr<std::unique_ptr<Evaluator>> OfTask(const ProgramTask& task) override {
    return std::make_unique<Shared>(*toys.at(task.text), task.text);
  }
  Status Restart() override { return whole.Restart(); }
  double Seconds() const override { return whole.Seconds(); }

  ToyEvaluator whole;
  std::vector<ProgramTask> tasks;
  std::map<std::string, std::unique_ptr<ToyEvaluator>> toys;

 private:
  class Shared final : public Evaluator {
   public:
    Shared(ToyEvaluator& toy, std::string name) : toy_(toy), name_(std::move(name)) {}
    StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted& wanted) override {
      return toy_.Alternatives(wanted);
    }
    StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) override {
      return toy_.Compile(plan, options);
    }
    StatusOr<std::vector<KernelTime>> Profile(const TunePlan& a, double b, double c) override {
      return toy_.Profile(a, b, c);
    }
    StatusOr<ProgramGraph> Describe(const std::string& text) override {
      return toy_.Describe(text);
    }
    StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b, const RaceOptions& c) override {
      return toy_.Race(a, b, c);
    }
    StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                       const CompareOptions& c) override {
      return toy_.Compare(a, b, c);
    }
    Status Restart() override { return {}; }
    StatusOr<double> RunSeconds() override { return toy_.run_seconds; }
    std::string Name() const override { return name_; }
    double Seconds() const override { return toy_.Seconds(); }

   private:
    ToyEvaluator& toy_;
    const std::string name_;
  };
};

TaskReport ReportOf(double share, const std::string& name, const std::string& value, double speedup,
                    Stage stage = Stage::kFlags) {
  TaskReport report;
  report.share = share;
  report.trials.push_back({{stage, name, value}, speedup, 0.99 * speedup, 1.01 * speedup});
  return report;
}

Space SpaceWithFlags(const std::vector<FlagChoices>& flags) {
  Space space;
  Compiled listing;
  listing.flag_choices = flags;
  AddListing(listing, AllStages(), {}, space);
  return space;
}

TEST(Tasks, TheDearestComeFirstAndPlacesAddUp) {
  ToyWhole evaluator([](const Decided&) { return 0.0; });
  const auto nothing = [](const Decided&) { return 0.0; };
  evaluator.Add(TaskOf("cheap"), nothing).run_seconds = 1e-6;
  evaluator.Add(TaskOf("once"), nothing).run_seconds = 0.004;
  evaluator.Add(TaskOf("often", 3), nothing).run_seconds = 0.002;
  for (auto& [text, toy] : evaluator.toys) toy->AddFlag("f", {"a", "b"});
  const auto reports =
      TuneTasks(evaluator, evaluator.tasks, TuneOptions{}, 0.02, 60, [] { return false; });
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].task, "often");
  EXPECT_NEAR(reports[0].share, 0.3, 1e-9);
  EXPECT_EQ(reports[0].what.runs, 3);
  EXPECT_EQ(reports[1].task, "once");
  EXPECT_NEAR(reports[1].share, 0.2, 1e-9);
}

TEST(Tasks, WhatWinsIsFoundCombinedAndCounted) {
  ToyWhole evaluator([](const Decided&) { return 0.0; });
  ToyEvaluator& task = evaluator.Add(TaskOf("t"), [](const Decided& decided) {
    return (decided.count("+implement:x") ? -0.5 : 0) + (Is(decided, "f", "b") ? -0.2 : 0) +
           (Is(decided, "g", "b") ? 0.3 : 0);
  });
  task.AddPass("implement:x");
  task.AddFlag("f", {"a", "b", "c"});
  task.AddFlag("g", {"a", "b"});
  TuneOptions options;
  const auto reports =
      TuneTasks(evaluator, evaluator.tasks, options, 0.02, 60, [] { return false; });
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].task, "t");
  EXPECT_GE(reports[0].evaluations, 4);
  ASSERT_EQ(reports[0].plan.passes.size(), 1u);
  EXPECT_EQ(reports[0].plan.compile.flags.size(), 1u);
  EXPECT_GT(reports[0].race.low, 1.5);
  EXPECT_NEAR(reports[0].share, 0.5, 1e-9);  // 10 ms of the 20 that a run takes
  EXPECT_GT(ExpectedOf(reports, "implement:x", "implement:x").saved, 0.15);
  EXPECT_LT(ExpectedOf(reports, "g", "b").saved, 0);
  EXPECT_FALSE(ExpectedOf(reports, "h", "b").tried);
}

TEST(Tasks, WhatComputesSomethingElseIsNotTaken) {
  ToyWhole evaluator([](const Decided&) { return 0.0; });
  ToyEvaluator& task = evaluator.Add(TaskOf("t"), [](const Decided& decided) {
    return decided.count("+implement:wrong") ? -2.0 : 0.0;
  });
  task.AddPass("implement:wrong");
  task.computes_wrong = [](const Decided& decided) {
    return decided.count("+implement:wrong") > 0;
  };
  const auto reports =
      TuneTasks(evaluator, evaluator.tasks, TuneOptions{}, 0.02, 60, [] { return false; });
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(reports[0].plan.empty());
  EXPECT_FALSE(ExpectedOf(reports, "implement:wrong", "implement:wrong").tried);
}

TEST(Tasks, APlanIsPutTogetherByWeight) {
  const Space space = SpaceWithFlags({{"f", {"a", "b", "c"}}, {"g", {"a", "b"}}});
  // b is better for the dear task by little, c for the cheap one by much; g=b costs more than it
  // saves.
  std::vector<TaskReport> tasks = {ReportOf(0.8, "f", "b", 1.2), ReportOf(0.1, "f", "c", 1.5),
                                   ReportOf(0.1, "g", "b", 1.5), ReportOf(0.4, "g", "b", 0.8)};
  const std::vector<TunePlan> plans = Compose(space, tasks);
  ASSERT_EQ(plans.size(), 1u);
  ASSERT_EQ(plans[0].compile.flags.size(), 1u);
  EXPECT_EQ(plans[0].compile.flags[0], (std::pair<std::string, std::string>("f", "b")));
}

TEST(Tasks, WhatIsNotClearIsNotMade) {
  const Space space = SpaceWithFlags({{"f", {"a", "b"}}});
  std::vector<TaskReport> tasks = {ReportOf(0.8, "f", "b", 1.1)};
  tasks[0].trials[0].low = 0.95;
  EXPECT_TRUE(Compose(space, tasks).empty());
}

TEST(Tasks, AreTheFirstThingThatIsRacedInTheWhole) {
  const auto formula = [](const Decided& decided) {
    return decided.count("+implement:x") ? -0.6 : 0.0;
  };
  ToyWhole evaluator(formula);
  for (int i = 0; i < 8; ++i) evaluator.whole.AddPass("implement:" + std::to_string(i));
  evaluator.whole.AddPass("implement:x");
  ToyEvaluator& task = evaluator.Add(TaskOf("t"), formula);
  task.AddPass("implement:3");
  task.AddPass("implement:x");
  TuneOptions options;
  options.tasks = true;
  options.budget_seconds = 60;
  const TuneResult result = TuneProgram(evaluator, options);
  ASSERT_EQ(result.tasks.size(), 1u);
  EXPECT_GE(result.tasks[0].evaluations, 2);
  ASSERT_FALSE(evaluator.whole.raced.empty());
  ASSERT_EQ(evaluator.whole.raced[0].passes.size(), 1u);
  EXPECT_EQ(evaluator.whole.raced[0].passes[0].pass, "implement:x");
  EXPECT_TRUE(result.kept);
  ASSERT_EQ(result.plan.passes.size(), 1u);
  EXPECT_EQ(result.plan.passes[0].pass, "implement:x");
  // What was no faster in the task was not raced alone before the search.
  EXPECT_NE(evaluator.whole.raced[1].passes[0].pass, "implement:3");
  TuneOptions without = options;
  without.tasks = false;
  EXPECT_TRUE(TuneProgram(evaluator, without).tasks.empty());
  without.tasks = true;
  without.budget_evaluations = 5;
  EXPECT_TRUE(TuneProgram(evaluator, without).tasks.empty());
}

}  // namespace
}  // namespace hone::tune
