// Which inputs are taken, how many runs, and the verdict.
#include "verify/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "arrays.h"

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
  StatusOr<Outputs> RunReference() override { return OutputsOf(type, a_(choice_)); }
  StatusOr<Outputs> RunCandidate() override { return OutputsOf(type, b_(choice_)); }
  StatusOr<std::optional<Outputs>> MovedSample(int) override {
    ++moved;
    return OutputsOf(type, a_(choice_));
  }
  StatusOr<std::optional<Outputs>> Sample(int) override {
    ++samples;
    return OutputsOf(type, noisy_(choice_));
  }

  const char* type = "f32";
  std::vector<std::string> chosen;
  int moved = 0, samples = 0;

 private:
  Program a_, b_, noisy_;
  InputChoice choice_;
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

TEST(Compare, WhatIsGivenComesFirstAndIsFollowedByItsNeighbours) {
  const auto good = [](const InputChoice& choice) {
    return Always(choice.given >= 0 ? 1 : NAN);
  };
  Toy toy(good, good, good);
  const ComparisonReport report = Compare(toy, {}, 1);
  EXPECT_EQ(report.verdict, Verdict::kEqual);
  EXPECT_EQ(toy.chosen.front(), "the given");
  Toy different(good, [&](const InputChoice& choice) { return Always(choice.given >= 0 ? 2 : NAN); },
                good);
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
}

}  // namespace
}  // namespace hone::verify
