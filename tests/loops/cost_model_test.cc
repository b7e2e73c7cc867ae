#include "loops/cost_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/rng.h"
#include "loops/ranked_search.h"
#include "loops/tasks.h"

namespace hone::loops {
namespace {

constexpr Machine kMachine{1, 64, 32};

TEST(ScheduleFeatures, AreAsManyOfEachTask) {
  for (const KnownTask& known : KnownTasks()) {
    const Program program = Expand(*ParseTask(known.text));
    for (const Schedule& schedule : {Schedule{}, DefaultSchedule(program, kMachine)}) {
      const std::vector<float> features = ScheduleFeatures(*Apply(program, schedule), kMachine);
      EXPECT_EQ(features.size(), kScheduleFeatures);
      for (const float feature : features) EXPECT_TRUE(std::isfinite(feature)) << known.name;
    }
  }
}

TEST(ScheduleFeatures, TellSchedulesApart) {
  const Program program = Expand(
      *ParseTask("task t\ninput a f32[64,48]\ninput b f32[48,96]\nc = matmul a b\noutput c\n"));
  std::set<std::vector<float>> seen;
  for (const char* text : {"", "c interchange 0,2,1\n", "c parallel 8,0,0\n", "c parallel 16,0,0\n",
                           "c tile 8,0,0\n", "c tile 8,16,0\n", "c tile 8,16,0\nc tile 0,0,4\n",
                           "c tile 8,16,0\nc tile 0,0,4\nc vectorize\n", "c pack 0,16,0\n",
                           "c tile 0,0,4\nc unroll 2\n"}) {
    const auto scheduled = Apply(program, *ParseSchedule(text));
    ASSERT_TRUE(scheduled) << text << scheduled.error().message;
    EXPECT_TRUE(seen.insert(ScheduleFeatures(*scheduled, kMachine)).second) << text;
  }
}

// Made-up times: what is vectorised takes a quarter, what was not interchanged half as long again.
std::vector<TimedSchedule> MadeUp(uint64_t seed, size_t tasks) {
  std::vector<TimedSchedule> timed;
  Rng rng(seed);
  for (size_t task = 0; task < tasks; ++task) {
    const auto size = [&] { return static_cast<int64_t>(16 * (1 + rng.Below(8))); };
    const int64_t m = size(), k = size(), n = size();
    const std::string text = "task t\ninput a f32[" + std::to_string(m) + "," + std::to_string(k) +
                             "]\ninput b f32[" + std::to_string(k) + "," + std::to_string(n) +
                             "]\nc = matmul a b\noutput c\n";
    const Program program = Expand(*ParseTask(text));
    const auto features = [&](const Schedule& schedule) {
      return ScheduleFeatures(*Apply(program, schedule), kMachine);
    };
    const std::vector<float> by_default = features(DefaultSchedule(program, kMachine));
    for (int i = 0; i < 8; ++i) {
      const bool vectorised = (i & 1) != 0, interchanged = (i & 2) != 0, small = (i & 4) != 0;
      Schedule schedule;
      if (interchanged) schedule.push_back({"c", StepKind::kInterchange, {1, 0, 2}, ""});
      schedule.push_back({"c", StepKind::kTile, {small ? 4 : 8, 16, 0}, ""});
      schedule.push_back({"c", StepKind::kTile, {0, 0, 4}, ""});
      if (vectorised) schedule.push_back({"c", StepKind::kVectorize, {}, ""});
      const double noise = 0.1 * rng.Unit();
      timed.push_back({task, features(schedule), by_default,
                       std::log(static_cast<double>(m * k * n)) - (vectorised ? 1.4 : 0) -
                           (interchanged ? 0.4 : 0) + noise});
    }
  }
  return timed;
}

// The share of pairs within tasks that are in the right order.
double Ordered(const LoopsCostModel& model, const std::vector<TimedSchedule>& timed) {
  double right = 0, pairs = 0;
  for (const TimedSchedule& a : timed) {
    for (const TimedSchedule& b : timed) {
      if (a.task != b.task || a.value >= b.value - 0.15) continue;
      ++pairs;
      right += model.Predict(a.features, a.by_default) < model.Predict(b.features, b.by_default);
    }
  }
  return right / pairs;
}

TEST(LoopsCostModel, OrdersSchedulesOfTasksThatItWasNotTrainedOn) {
  const LoopsCostModel model = TrainLoopsCostModel(MadeUp(1, 30), {});
  EXPECT_GT(Ordered(model, MadeUp(2, 10)), 0.95);
  // One that was taught the contrary does not.
  std::vector<TimedSchedule> contrary = MadeUp(1, 30);
  for (TimedSchedule& one : contrary) one.value = -one.value;
  EXPECT_LT(Ordered(TrainLoopsCostModel(contrary, {}), MadeUp(2, 10)), 0.05);
}

TEST(LoopsCostModel, IsTheSameOfTheSameExamples) {
  const auto timed = MadeUp(3, 8);
  EXPECT_EQ(WriteLoopsCostModel(TrainLoopsCostModel(timed, {})),
            WriteLoopsCostModel(TrainLoopsCostModel(timed, {})));
  LoopsCostOptions other;
  other.seed = 2;
  EXPECT_NE(WriteLoopsCostModel(TrainLoopsCostModel(timed, other)),
            WriteLoopsCostModel(TrainLoopsCostModel(timed, {})));
}

TEST(LoopsCostModel, IsReadAsItWasWritten) {
  LoopsCostModel model = TrainLoopsCostModel(MadeUp(4, 8), {});
  model.card["processor"] = "a made-up one";
  const auto read = ReadLoopsCostModel(WriteLoopsCostModel(model));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)->card.at("processor"), "a made-up one");
  for (const TimedSchedule& one : MadeUp(5, 3)) {
    EXPECT_NEAR((*read)->Predict(one.features, one.by_default),
                model.Predict(one.features, one.by_default), 1e-5);
  }
}

TEST(LoopsCostModel, BadFilesAreErrorsThatSayHowToMakeOne) {
  const auto refused = [](const std::string& bytes) {
    const auto read = ReadLoopsCostModel(bytes);
    EXPECT_FALSE(read);
    return !read && read.error().message.find("hone-loops-bench costmodel") != std::string::npos;
  };
  LoopsCostModel model = TrainLoopsCostModel(MadeUp(6, 4), {});
  const std::string good = WriteLoopsCostModel(model);
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused(good.substr(0, good.size() / 2)));
  LoopsCostModel wrong = model;
  wrong.columns[0].number = 2 * kScheduleFeatures;
  EXPECT_TRUE(refused(WriteLoopsCostModel(wrong)));
  wrong = model;
  wrong.trees.trees[0] = choices::Tree({{0, 0, 0, 0}});  // goes on to itself
  EXPECT_TRUE(refused(WriteLoopsCostModel(wrong)));
  wrong = model;
  wrong.trees.mean = INFINITY;
  EXPECT_TRUE(refused(WriteLoopsCostModel(wrong)));
  wrong = model;
  wrong.trees.trees[0] = choices::Tree({{int64_t{1} << 20, 0, 1, 2}, {}, {}});
  EXPECT_TRUE(refused(WriteLoopsCostModel(wrong)));
}

// A model by which the fewer points a tile has, the better.
LoopsCostModel SmallTiles(const Program& program) {
  const auto features = [&](const Schedule& schedule) {
    return ScheduleFeatures(*Apply(program, schedule), kMachine);
  };
  std::vector<TimedSchedule> timed;
  for (const int64_t size : Scheduled::Divisors(64, /*with_extent=*/false)) {
    timed.push_back({0, features({{"y", StepKind::kTile, {size}, ""}}), features({}),
                     std::log(static_cast<double>(size))});
  }
  LoopsCostOptions options;
  options.boosting.tree.least = 1;
  return TrainLoopsCostModel(timed, options);
}

// The searcher by itself would measure what it comes by first: plain loops, the rules of thumb's.
TEST(SearchRanked, MeasuresWhatTheModelHoldsForBest) {
  const Program program = Expand(*ParseTask("task t\ninput x f32[64]\ny = exp x\noutput y\n"));
  const Catalogue catalogue(program, kMachine);
  const LoopsCostModel model = SmallTiles(program);
  const std::vector<float> by_default =
      ScheduleFeatures(*Apply(program, catalogue.default_schedule()), kMachine);
  const auto value = [&](const Scheduled& scheduled) {
    return model.Predict(ScheduleFeatures(scheduled, kMachine), by_default);
  };
  std::vector<double> measured;
  const Status searched = SearchRanked(
      catalogue, {}, model, kMachine,
      [&](const Scheduled& scheduled) {
        measured.push_back(value(scheduled));
        return 0.0;
      },
      [&] { return measured.size() == 3; });
  ASSERT_TRUE(searched) << searched.error().message;
  ASSERT_EQ(measured.size(), 3u);
  EXPECT_TRUE(std::is_sorted(measured.begin(), measured.end()));
  EXPECT_LT(measured[2], value(Scheduled(program)));
  EXPECT_LT(measured[2], value(*Apply(program, {{"y", StepKind::kTile, {32}, ""}})));
}

TEST(SearchRanked, MeasuresNothingTwiceAndEndsWhereNothingIsNew) {
  const Program program = Expand(*ParseTask("task t\ninput x f32[6]\ny = exp x\noutput y\n"));
  const Catalogue catalogue(program, kMachine);
  std::set<std::vector<float>> looks;
  size_t measured = 0;
  const Status searched = SearchRanked(
      catalogue, {},
      SmallTiles(Expand(*ParseTask("task t\ninput x f32[64]\ny = exp x\noutput y\n"))), kMachine,
      [&](const Scheduled& scheduled) {
        ++measured;
        looks.insert(ScheduleFeatures(scheduled, kMachine));
        return 0.0;
      },
      [] { return false; });
  ASSERT_TRUE(searched) << searched.error().message;
  EXPECT_GT(measured, 3u);
  EXPECT_EQ(looks.size(), measured);
}

}  // namespace
}  // namespace hone::loops
