// Which inputs are taken, how many runs, and the verdict.
#include "verify/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "arrays.h"
#include "verify/find_finite.h"
#include "verify/rule.h"

namespace hone::verify {
namespace {

using Values = std::vector<float>;

// Programs as functions of what was chosen.
class Toy : public Subject {
 public:
  using Program = std::function<Values(const InputChoice&)>;
  Toy(Program a, Program b, Program noisy)
      : a_(std::move(a)), b_(std::move(b)), noisy_(std::move(noisy)) {}

  Status Choose(const InputChoice& choice) override {
    choice_ = choice;
    chosen.push_back(NameOf(choice));
    return {};
  }
  StatusOr<Outputs> RunReference() override {
    Begin(runs_);
    return OutputsOf(type, a_(choice_));
  }
  StatusOr<Outputs> RunCandidate() override {
    Begin(runs_);
    return OutputsOf(type, b_(choice_));
  }
  StatusOr<std::optional<Outputs>> MovedSample(int) override {
    Begin(moved);
    return OutputsOf(type, a_(choice_));
  }
  StatusOr<std::optional<Outputs>> Sample(int) override {
    if (samples == 0) std::this_thread::sleep_for(std::chrono::duration<double>(compile_seconds));
    Begin(samples);
    return OutputsOf(type, noisy_(choice_));
  }
  StatusOr<std::optional<Outputs>> WideSample(int) override {
    if (!wide) return std::nullopt;
    ++wide_samples;
    return OutputsOf(type, wide(choice_));
  }
  double CompileSeconds() const override { return samples == 0 ? 0 : compile_seconds; }

  int Runs() const { return runs_ + moved + samples; }

  const char* type = "f32";
  std::vector<std::string> chosen;
  std::function<void()> begun;  // called at each run
  Program wide;                 // with its sums of narrow floats in f32
  int moved = 0, samples = 0, wide_samples = 0;
  double compile_seconds = 0;  // of what samples are runs of

 private:
  void Begin(int& of_a_kind) {
    ++of_a_kind;
    if (begun) begun();
  }

  Program a_, b_, noisy_;
  InputChoice choice_;
  int runs_ = 0;
};

Values Always(float value) { return Values(64, value); }
Toy::Program Constant(float value) {
  return [value](const InputChoice&) { return Always(value); };
}

TEST(Compare, SameBytesNeedNoFurtherRun) {
  Toy toy(Constant(1), Constant(1), Constant(1));
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual);
  EXPECT_EQ(report.method, "same bytes");
  EXPECT_EQ(report.inputs, 3);
  EXPECT_EQ(toy.moved + toy.samples, 0);
  EXPECT_EQ(toy.chosen, (std::vector<std::string>{"signed", "positive", "wide"}));
}

TEST(Compare, WhatIsDifferentTakesAsManySamplesAsThereMayBe) {
  Toy toy(Constant(1), Constant(1.5), Constant(1.0001f));
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kDifferent);
  EXPECT_EQ(toy.samples, 8);
  EXPECT_EQ(report.errors.size(), 1u);
  EXPECT_NE(report.reason.find("on signed inputs"), std::string::npos) << report.reason;
}

TEST(Compare, NoiseThatExplainsIsAskedForOnce) {
  Toy toy(Constant(1), Constant(1.0002f), Constant(1.0001f));
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual);
  EXPECT_EQ(report.method, "within the spread of rounding noise");
  EXPECT_EQ(toy.moved, 3) << "they were not enough once, so they are not tried again";
  EXPECT_EQ(toy.samples, 9);
}

// What neither noise explains is held against the reference with other sums.
TEST(Compare, SumsOfNarrowFloatsMayBeThoseOfF32) {
  Toy toy(Constant(0.9f), Constant(1), Constant(0.9001f));
  toy.wide = [n = 0](const InputChoice&) mutable {
    return Always(++n % 2 == 0 ? 1.0001f : 0.9999f);
  };
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
  EXPECT_NE(report.method.find("sums of narrow floats in f32"), std::string::npos) << report.method;
  Toy wrong(Constant(0.9f), Constant(0.95f), Constant(0.9001f));
  wrong.wide = toy.wide;
  EXPECT_EQ(Compare(wrong, {}).verdict, Verdict::kDifferent);
  EXPECT_EQ(wrong.wide_samples, 9);
  Toy explained(Constant(1), Constant(1.0002f), Constant(1.0001f));
  explained.wide = toy.wide;
  EXPECT_EQ(Compare(explained, {}).verdict, Verdict::kEqual);
  EXPECT_EQ(explained.wide_samples, 0) << "noise explains it";
}

// Equal only where nothing hangs on the last bit: three such sets are looked for.
TEST(Compare, LooksForInputsOnWhichNoDecisionHangs) {
  const auto chaotic = [](const InputChoice& choice) { return choice.kind < 3; };
  const auto one = [&](float flipped) {
    return [=](const InputChoice& choice) {
      Values values = Always(1);
      if (chaotic(choice)) values[5] = flipped;
      return values;
    };
  };
  Toy toy(one(1), one(2), one(3));
  toy.type = "s32";
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
  EXPECT_EQ(report.inputs, 3);
  EXPECT_EQ(toy.chosen, (std::vector<std::string>{"signed", "positive", "wide", "small",
                                                  "structured", "exact"}));
}

// One element of 64, by little, in the candidate alone.
Toy::Program OneOff(const std::function<bool(const InputChoice&)>& when) {
  return [when](const InputChoice& choice) {
    Values values = Always(1);
    if (when(choice)) values[5] = 1.01f;
    return values;
  };
}

TEST(Compare, AFlipIsLookedAtOnceMoreOnInputsOfItsKind) {
  int seen = 0;
  Toy toy(Constant(1),
          OneOff([&](const InputChoice& choice) { return choice.kind == 1 && seen++ == 0; }),
          Constant(1.0001f));
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
  EXPECT_EQ(report.inputs, 3);
  EXPECT_TRUE(report.errors.empty());
  EXPECT_LE(report.worst_error, 1);
  EXPECT_NE(report.method.find("once a few elements"), std::string::npos) << report.method;
  EXPECT_EQ(toy.chosen, (std::vector<std::string>{"signed", "positive", "positive", "wide"}));
}

// Inputs on which everything is NaN clear nobody.
TEST(Compare, ADoubtIsClearedByInputsThatShowSomething) {
  const Toy* running = nullptr;
  const auto program = [&](float on_second) {
    return [&, on_second](const InputChoice&) {
      Values values = Always(running->chosen.size() == 3 ? NAN : 1);
      if (running->chosen.size() == 2) values[5] = on_second;
      return values;
    };
  };
  Toy toy(program(1), program(1.01f), Constant(1.0001f));
  running = &toy;
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
  EXPECT_EQ(toy.chosen,
            (std::vector<std::string>{"signed", "positive", "positive", "positive", "wide"}));
}

TEST(Compare, WhatIsOffOnAllInputsOfAKindIsDifferent) {
  Toy toy(Constant(1), OneOff([](const InputChoice& choice) { return choice.kind == 1; }),
          Constant(1.0001f));
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kDifferent);
  EXPECT_NE(report.reason.find("on positive inputs"), std::string::npos) << report.reason;
  EXPECT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(toy.chosen, (std::vector<std::string>{"signed", "positive", "positive"}));
}

// A program of many outputs, in some of which noise flips an element.
class Manifold : public Subject {
 public:
  // Which output has an element off on the n-th input set.
  Manifold(int flipping, std::function<int(int)> off) : flipping_(flipping), off_(std::move(off)) {}

  Status Choose(const InputChoice&) override {
    ++sets_;
    return {};
  }
  StatusOr<Outputs> RunReference() override {
    return Made([](int) { return Ones(); });
  }
  StatusOr<Outputs> RunCandidate() override {
    return Made([&](int k) {
      Values values = Ones();
      if (k < flipping_) values[kBlock * 10] = 1.01f;
      if (k == flipping_ + off_(sets_)) values[5] = 1.01f;
      return values;
    });
  }
  StatusOr<std::optional<Outputs>> MovedSample(int) override { return std::nullopt; }
  StatusOr<std::optional<Outputs>> Sample(int number) override {
    return Made([&](int k) {
      Values values(kElements, 1.0001f);
      if (k < flipping_) values[static_cast<size_t>(kBlock * (number + 1))] = 1.01f;
      return values;
    });
  }

 private:
  static constexpr size_t kElements = 16 * kBlock;  // each flips one in a block of its own
  static Values Ones() { return Values(kElements, 1); }
  static Outputs Made(const std::function<Values(int)>& output) {
    constexpr int kOutputs = 30;
    auto kept = std::make_shared<std::vector<Outputs>>();
    Outputs all;
    for (int k = 0; k < kOutputs; ++k) {
      kept->push_back(OutputsOf("f32", output(k)));
      all.arrays.push_back(kept->back().arrays.front());
    }
    all.owner = kept;
    return all;
  }

  int flipping_;
  std::function<int(int)> off_;
  int sets_ = 0;
};

// Of hundreds of outputs in which noise flips elements some have one beyond on any inputs.
TEST(Compare, AFlipInAnotherOutputEachTimeIsChanceWhereManyFlip) {
  const auto each_time_another = [](int set) { return set; };
  Manifold many(20, each_time_another);
  const ComparisonReport report = Compare(many, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
  EXPECT_NE(report.method.find("none of those outputs'"), std::string::npos) << report.method;
  Manifold few(5, each_time_another);
  EXPECT_EQ(Compare(few, {}).verdict, Verdict::kDifferent);
  Manifold same(20, [](int) { return 3; });
  EXPECT_EQ(Compare(same, {}).verdict, Verdict::kDifferent) << "always the same output";
}

TEST(Compare, WhatHangsEverywhereCannotBeTold) {
  Toy toy(Constant(1), Constant(2), Constant(3));
  toy.type = "s32";
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kCannotTell);
  EXPECT_NE(report.reason.find("decisions hang on the last bit"), std::string::npos)
      << report.reason;
  EXPECT_EQ(toy.chosen.size(), 9u);
}

TEST(Compare, MostOfEveryOutputMustBeFinite) {
  const auto nans = [](int finite_from) {
    return [=](const InputChoice& choice) { return Always(choice.kind < finite_from ? NAN : 1); };
  };
  Toy never(nans(9), nans(9), nans(9));
  EXPECT_EQ(Compare(never, {}).verdict, Verdict::kCannotTell);
  Toy small(nans(3), nans(3), nans(3));
  EXPECT_EQ(Compare(small, {}).verdict, Verdict::kEqual);
  EXPECT_EQ(small.chosen.size(), 4u) << "one set that shows something, beside those that agree";
}

// One draw of habits in ten is finite; there the second programs do the same and something else.
TEST(Compare, WhereNothingIsFiniteHabitsAreDrawnUntilSomethingIs) {
  const auto seldom = [](float value) {
    return [=](const InputChoice& choice) {
      const bool finite =
          choice.kind == kSearchedKind && static_cast<uint32_t>(choice.seed) % 10 == 0;
      return Always(finite ? value + static_cast<float>(choice.seed >> 32) : NAN);
    };
  };
  Toy alike(seldom(1), seldom(1), seldom(1));
  EXPECT_EQ(Compare(alike, {}).verdict, Verdict::kEqual);
  EXPECT_EQ(alike.chosen.back(), "searched");
  Toy unlike(seldom(1), seldom(1.5f), seldom(1));
  EXPECT_EQ(Compare(unlike, {}).verdict, Verdict::kDifferent);
  Toy never(Constant(NAN), Constant(NAN), Constant(NAN));
  const ComparisonReport report = Compare(never, {});
  EXPECT_EQ(report.verdict, Verdict::kCannotTell);
  EXPECT_NE(report.reason.find("finite"), std::string::npos) << report.reason;
  EXPECT_GT(never.Runs(), 60);
  EXPECT_LT(never.Runs(), 300);
}

// One draw in ten is right for one half, and one in ten for the other.
TEST(Compare, HabitsOfSomeArraysAreDrawnOnTopOfTheBest) {
  const auto program = [](const InputChoice& choice) {
    Values values = Always(NAN);
    if (choice.kind != kSearchedKind) return values;
    for (int place = 0; place < kDraws; ++place) {
      const uint64_t draw = choice.seed >> (8 * place) & 0xFF;
      if (draw % 10 == 1) std::fill(values.begin(), values.begin() + 24, 1.0f);
      if (draw % 10 == 2) std::fill(values.begin() + 24, values.begin() + 48, 1.0f);
    }
    return values;
  };
  Toy toy(program, program, program);
  EXPECT_EQ(Compare(toy, {}).verdict, Verdict::kEqual);
  EXPECT_EQ(toy.chosen.back(), "searched");
}

// What leaves a doubt there is looked at once more under the same habits.
TEST(Compare, ADoubtOnHabitsThatWereFoundIsClearedUnderThem) {
  std::set<uint32_t> habits;
  std::set<uint64_t> seeds;  // the first
  const auto program = [&](float of_the_first) {
    return [&, of_the_first](const InputChoice& choice) {
      if (choice.kind != kSearchedKind) return Always(NAN);
      habits.insert(static_cast<uint32_t>(choice.seed));
      Values values = Always(1);
      if (seeds.empty()) seeds.insert(choice.seed);
      if (seeds.count(choice.seed) != 0) values[5] = of_the_first;
      return values;
    };
  };
  Toy toy(program(1), program(1.01f), Constant(1.0001f));
  const ComparisonReport report = Compare(toy, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
  EXPECT_EQ(habits.size(), 1u);
}

// The same from both programs: ones, and an array of others.
class OnesAnd : public Subject {
 public:
  explicit OnesAnd(Values others) : others_(std::move(others)) {}
  Status Choose(const InputChoice&) override { return {}; }
  StatusOr<Outputs> RunReference() override {
    auto kept = std::make_shared<std::vector<Outputs>>();
    kept->push_back(OutputsOf("f32", Values(100, 1)));
    kept->push_back(OutputsOf("f32", others_));
    Outputs all;
    for (const Outputs& one : *kept) all.arrays.push_back(one.arrays.front());
    all.owner = kept;
    return all;
  }
  StatusOr<Outputs> RunCandidate() override { return RunReference(); }
  StatusOr<std::optional<Outputs>> MovedSample(int) override { return std::nullopt; }
  StatusOr<std::optional<Outputs>> Sample(int) override { return RunReference(); }

 private:
  const Values others_;
};

// As the maxima of groups, most of which are empty.
TEST(Compare, InfinitiesBesideWhatIsFiniteInOneOfSeveralOutputs) {
  const auto verdict = [](size_t finite, size_t others, float what) {
    Values values(finite, 2);
    values.resize(finite + others, what);
    OnesAnd subject(values);
    return Compare(subject, {}).verdict;
  };
  EXPECT_EQ(verdict(1, 20, -INFINITY), Verdict::kEqual);
  EXPECT_EQ(verdict(0, 20, -INFINITY), Verdict::kCannotTell);
  EXPECT_EQ(verdict(1, 20, NAN), Verdict::kCannotTell);
  EXPECT_EQ(verdict(1, 200, -INFINITY), Verdict::kCannotTell) << "most of all is infinite";
}

TEST(Compare, WhatIsGivenComesFirstAndIsFollowedByItsNeighbours) {
  const auto good = [](const InputChoice& choice) { return Always(choice.given >= 0 ? 1 : NAN); };
  Toy toy(good, good, good);
  const ComparisonReport report = Compare(toy, {}, 1);
  EXPECT_EQ(report.verdict, Verdict::kEqual);
  EXPECT_EQ(toy.chosen.front(), "the given");
  Toy different(
      good, [&](const InputChoice& choice) { return Always(choice.given >= 0 ? 2 : NAN); }, good);
  EXPECT_EQ(Compare(different, {}, 1).verdict, Verdict::kDifferent);
}

TEST(Compare, ErrorsEndIt) {
  class Broken : public Toy {
   public:
    using Toy::Toy;
    StatusOr<Outputs> RunCandidate() override {
      return MakeError(ErrorCode::kUnsupported, "it burns");
    }
  };
  Broken broken(Constant(1), Constant(1), Constant(1));
  const ComparisonReport report = Compare(broken, {});
  EXPECT_EQ(report.verdict, Verdict::kCannotTell);
  EXPECT_EQ(report.reason, "it burns");
}

TEST(Compare, TimeThatRunsOutLeavesWhatWasSeen) {
  Toy toy(Constant(1), Constant(1), Constant(1));
  CompareOptions options;
  options.budget_seconds = 0;
  const ComparisonReport report = Compare(toy, options);
  EXPECT_EQ(report.verdict, Verdict::kEqual);
  EXPECT_EQ(report.inputs, 1);
  EXPECT_NE(report.method.find("on 1 of 3 input sets, then the time budget was spent"),
            std::string::npos)
      << report.method;
}

// What a set cut short has not explained would leave all open.
TEST(Compare, NoSetIsBegunThatTheBudgetDoesNotLastFor) {
  Toy toy(
      Constant(1), [](const InputChoice& choice) { return Always(choice.kind == 1 ? 1.5f : 1.0f); },
      Constant(1.0001f));
  toy.begun = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  CompareOptions options;
  options.budget_seconds = 0.35;
  const ComparisonReport report = Compare(toy, options);
  EXPECT_EQ(report.verdict, Verdict::kEqual);
  EXPECT_EQ(toy.Runs(), 2);
  EXPECT_NE(report.method.find("on 1 of 3 input sets"), std::string::npos) << report.method;
}

// How many runs a comparison begins that is interrupted after `runs` of them.
struct Interrupted {
  explicit Interrupted(Toy& toy, int runs) {
    std::atomic<bool> stop{false};
    toy.begun = [&] { stop = toy.Runs() >= runs; };
    CompareOptions options;
    options.stop = &stop;
    report = Compare(toy, options);
    begun = toy.Runs();
  }
  ComparisonReport report;
  int begun = 0;
};

TEST(Compare, AnInterruptEndsItWithinAnInputSet) {
  for (const int runs : {1, 2, 3, 4, 7, 9}) {
    Toy toy(Constant(1), Constant(1.5), Constant(1.0001f));
    const Interrupted interrupted(toy, runs);
    EXPECT_EQ(interrupted.begun, runs);
    EXPECT_EQ(interrupted.report.verdict, Verdict::kCannotTell) << runs;
    EXPECT_NE(interrupted.report.reason.find("it was interrupted before"), std::string::npos)
        << interrupted.report.reason;
  }
}

TEST(Compare, AnInterruptKeepsWhatWasSeen) {
  Toy toy(Constant(1), Constant(1), Constant(1));
  const Interrupted interrupted(toy, 4);
  EXPECT_EQ(interrupted.begun, 4);
  EXPECT_EQ(interrupted.report.verdict, Verdict::kEqual);
  EXPECT_EQ(interrupted.report.inputs, 2);
  EXPECT_EQ(interrupted.report.method, "same bytes; on 2 of 3 input sets, then it was interrupted");
}

// What may be different is not called equal for the sets before it.
TEST(Compare, AnInterruptLeavesWhatIsNotExplainedOpen) {
  Toy toy(
      Constant(1), [](const InputChoice& choice) { return Always(choice.kind == 1 ? 1.5f : 1.0f); },
      Constant(1.0001f));
  const Interrupted interrupted(toy, 9);
  EXPECT_EQ(interrupted.report.verdict, Verdict::kCannotTell);
  EXPECT_NE(interrupted.report.reason.find("how far rounding errors reach"), std::string::npos)
      << interrupted.report.reason;
}

// Whoever interrupted what came before it wants to know.
TEST(Compare, AnInterruptBeforeItIsNotItsOwn) {
  Toy toy(Constant(1), Constant(1), Constant(1));
  const std::atomic<bool> stop{true};
  CompareOptions options;
  options.stop = &stop;
  EXPECT_EQ(Compare(toy, options).inputs, 3);
}

TEST(Compare, CompilingForSamplesIsNotOfTheBudget) {
  Toy toy(Constant(1), Constant(1.5), Constant(1.0001f));
  toy.compile_seconds = 1;
  CompareOptions options;
  options.budget_seconds = 0.9;
  EXPECT_EQ(Compare(toy, options).verdict, Verdict::kDifferent);
  EXPECT_EQ(toy.samples, 8);
}

TEST(Compare, TheBudgetIsLookedAtWithinAnInputSet) {
  Toy toy(Constant(1), Constant(1.5), Constant(1.0001f));
  CompareOptions options;
  options.budget_seconds = 0;
  const ComparisonReport report = Compare(toy, options);
  EXPECT_EQ(report.verdict, Verdict::kCannotTell);
  EXPECT_EQ(toy.Runs(), 2) << "both programs once, whatever the time";
}

}  // namespace
}  // namespace hone::verify
