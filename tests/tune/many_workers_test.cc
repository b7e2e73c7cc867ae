// Tuning with several workers that measure at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>

#include "core/rng.h"
#include "toy_evaluator.h"
#include "tune/tune_program.h"

namespace hone::tune {
namespace {

// A toy asked by several threads, each of which waits a while.
class SeveralWorkers final : public Evaluator {
 public:
  SeveralWorkers(ToyEvaluator& toy, int workers, uint64_t seed)
      : toy_(toy), workers_(workers), random_(seed) {}

  int workers() const override { return workers_; }
  StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted& wanted) override {
    return toy_.Alternatives(wanted);
  }
  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) override {
    return Wait([&] { return toy_.Compile(plan, options); });
  }
  StatusOr<std::vector<KernelTime>> Profile(const TunePlan& plan, double seconds,
                                            double most_seconds) override {
    return toy_.Profile(plan, seconds, most_seconds);
  }
  StatusOr<ProgramGraph> Describe(const std::string& text) override {
    return Wait([&] { return toy_.Describe(text); });
  }
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b,
                            const RaceOptions& options) override {
    return Wait([&] { return toy_.Race(a, b, options); });
  }
  StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                     const CompareOptions& options) override {
    return Wait([&] { return toy_.Compare(a, b, options); });
  }
  Status Restart() override {
    EXPECT_EQ(calls_, 0);
    return toy_.Restart();
  }
  double Seconds() const override {
    const std::lock_guard lock(mutex_);
    return toy_.Seconds();
  }
  int most_calls() const { return most_calls_; }

 private:
  template <class Call>
  auto Wait(Call call) -> decltype(call()) {
    std::unique_lock lock(mutex_);
    most_calls_ = std::max(most_calls_, ++calls_);
    const auto pause = std::chrono::microseconds(random_.Below(500));
    lock.unlock();
    std::this_thread::sleep_for(pause);
    lock.lock();
    --calls_;
    return call();
  }

  ToyEvaluator& toy_;
  const int workers_;
  mutable std::mutex mutex_;
  Rng random_;
  int calls_ = 0;
  int most_calls_ = 0;
};

// Twelve fusion sites of which three help, a flag and an implementation that do too.
ToyEvaluator MakeToy() {
  ToyEvaluator toy([](const std::map<std::string, std::string>& decided) {
    double time = 0;
    for (const auto& [name, value] : decided) {
      const bool helps =
          name == "3" || name == "7" || name == "8" || name == "fast_loops" || name == "+faster";
      time += helps ? -0.1 : 0.05;
    }
    return time;
  });
  toy.noise = 0;
  for (SiteKey key = 1; key <= 12; ++key) {
    toy.AddSite(key, CompileSiteKind::kFusionEdge, {"fuse", "keep"}, 1000);
  }
  toy.AddFlag("fast_loops", {"false", "true"});
  toy.AddPass("faster");
  toy.AddPass("slower");
  return toy;
}

struct Tuned {
  TuneResult result;
  std::vector<std::pair<std::string, double>> records;  // plans and speed-ups, as they came
  int most_calls = 0;
};

Tuned Tune(int workers, uint64_t seed, int64_t evaluations = 80) {
  ToyEvaluator toy = MakeToy();
  SeveralWorkers several(toy, workers, seed);
  TuneOptions options;
  options.budget_seconds = 1e6;  // the steps decide: the toy's clock adds up over the workers
  options.budget_evaluations = evaluations;
  Tuned tuned;
  options.record = [&](const store::Measurement& one, const store::PlanRow&,
                       const store::ModuleRow&) {
    tuned.records.emplace_back(one.plan, one.speedup);
  };
  tuned.result = TuneProgram(several, options);
  tuned.most_calls = several.most_calls();
  return tuned;
}

// With more questions: those under way together do not build on each other.
TEST(ManyWorkersTest, FindWhatOneFinds) {
  const Tuned one = Tune(1, 1);
  const Tuned four = Tune(4, 1, 300);
  EXPECT_EQ(one.most_calls, 1);
  EXPECT_GT(four.most_calls, 2);
  ASSERT_TRUE(one.result.kept) << one.result.reason;
  ASSERT_TRUE(four.result.kept) << four.result.reason;
  EXPECT_NEAR(four.result.race.speedup, std::exp(0.5), 1e-6);
  EXPECT_EQ(TunePlanToJson(one.result.plan), TunePlanToJson(four.result.plan));
  EXPECT_LE(four.result.evaluations, 300);
}

// Whoever is faster: the same questions, and each result recorded once, in the same order.
TEST(ManyWorkersTest, TheOrderOfAnswersDecidesNothing) {
  const Tuned first = Tune(4, 1);
  const Tuned second = Tune(4, 2);
  EXPECT_FALSE(first.records.empty());
  EXPECT_EQ(first.records, second.records);
  EXPECT_EQ(TunePlanToJson(first.result.plan), TunePlanToJson(second.result.plan));
  EXPECT_EQ(first.result.evaluations, second.result.evaluations);
}

// Of a plan there is a short look, and a long one where it promised much.
TEST(ManyWorkersTest, NothingIsRecordedTwice) {
  std::map<std::string, int> counts;
  const Tuned tuned = Tune(3, 5);
  for (const auto& [plan, speedup] : tuned.records) ++counts[plan];
  for (const auto& [plan, count] : counts) EXPECT_LE(count, 2) << plan;
  EXPECT_LE(tuned.result.evaluations, 80);
}

}  // namespace
}  // namespace hone::tune
