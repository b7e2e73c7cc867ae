// When outputs count as equal.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "arrays.h"
#include "core/rng.h"

namespace hone::verify {
namespace {

using Floats = std::vector<float>;

OutputComparison Compare(const Floats& a, const Floats& b,
                         const std::vector<Floats>& samples = {}) {
  std::vector<ArrayView> views;
  for (const Floats& sample : samples) views.push_back(ViewOf("f32", sample));
  return CompareOutput(ViewOf("f32", a), ViewOf("f32", b), views);
}

OutputComparison Compare(const std::vector<int32_t>& a, const std::vector<int32_t>& b,
                         const std::vector<std::vector<int32_t>>& samples = {}) {
  std::vector<ArrayView> views;
  for (const auto& sample : samples) views.push_back(ViewOf("s32", sample));
  return CompareOutput(ViewOf("s32", a), ViewOf("s32", b), views);
}

// Numbers with full mantissas, and runs of the same that are off by about `noise`.
struct Runs {
  Floats y;
  std::vector<Floats> samples;
};
Runs MakeRuns(size_t count, double noise, uint64_t seed = 3) {
  Runs runs;
  Rng random(seed);
  for (size_t i = 0; i < count; ++i) runs.y.push_back(static_cast<float>(random.Unit() + 0.5));
  for (int k = 0; k < 3; ++k) {
    Floats sample = runs.y;
    for (float& x : sample) {
      x *= static_cast<float>(1 + noise * (random.Unit() < 0.5 ? -1 : 1));
    }
    runs.samples.push_back(sample);
  }
  return runs;
}

// By half of what an element may be off by, in no direction and in one.
TEST(CompareOutput, NoiseHasNoDirection) {
  const Runs runs = MakeRuns(1 << 12, 0.01);
  Floats noise = runs.y, scaled = runs.y, little = runs.y;
  Rng random(5);
  for (size_t i = 0; i < noise.size(); ++i) {
    noise[i] *= static_cast<float>(random.Unit() < 0.5 ? 0.98 : 1.02);
    scaled[i] *= 1.01f;
    little[i] *= 1.0015f;
  }
  EXPECT_EQ(Compare(runs.y, noise, runs.samples).outcome, Outcome::kEqual);
  EXPECT_EQ(Compare(runs.y, little, runs.samples).outcome, Outcome::kEqual) << "below half of bf16";
  const OutputComparison wrong = Compare(runs.y, scaled, runs.samples);
  EXPECT_EQ(wrong.outcome, Outcome::kDifferent);
  EXPECT_EQ(wrong.over, 0);
  EXPECT_NEAR(wrong.scale, 1.01, 1e-3);
  EXPECT_EQ(Compare(runs.y, scaled).outcome, Outcome::kDifferent) << "in every element";
}

// Rounding to bf16 hides it in each element, with samples and without.
TEST(CompareOutput, AScaleIsSeenWithoutSamples) {
  const auto off = [](size_t count, double factor) {
    std::vector<uint16_t> bits[2];
    Rng random(3);
    for (size_t i = 0; i < count; ++i) {
      const double y = random.Unit() + 0.5;
      for (int run = 0; run < 2; ++run) {
        const auto value = static_cast<float>(run == 0 ? y : factor * y);
        uint32_t whole = 0;
        std::memcpy(&whole, &value, sizeof(whole));
        bits[run].push_back(static_cast<uint16_t>((whole + 0x8000) >> 16));
      }
    }
    return CompareOutput(ViewOf("bf16", bits[0]), ViewOf("bf16", bits[1]), {});
  };
  EXPECT_EQ(off(1 << 12, 1.01).over, 0);
  EXPECT_EQ(off(1 << 12, 1.01).outcome, Outcome::kDifferent);
  EXPECT_NEAR(off(1 << 12, 1.01).scale, 1.01, 1e-3);
  EXPECT_EQ(off(1 << 12, 1.001).outcome, Outcome::kEqual);
  EXPECT_EQ(off(1, 1.005).outcome, Outcome::kEqual) << "one number may be rounded otherwise";
  EXPECT_EQ(off(3, 1.005).outcome, Outcome::kEqual);
}

// A loop that knows of NaNs, and one that need not, say the same.
TEST(CompareOutput, WhatIsNotFiniteChangesNothingOfTheRest) {
  const Runs runs = MakeRuns(64, 0.01);
  Floats off = runs.y;
  off[5] *= 1.5f;
  off[40] *= 1.02f;
  const OutputComparison finite = Compare(runs.y, off, runs.samples);
  Runs with = runs;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  with.y.push_back(nan);
  off.push_back(nan);
  for (Floats& sample : with.samples) sample.push_back(nan);
  // In a block of its own, and in that of all others.
  for (const size_t place : {size_t{64}, size_t{0}}) {
    std::swap(with.y[place], with.y[64]);
    std::swap(off[place], off[64]);
    for (Floats& sample : with.samples) std::swap(sample[place], sample[64]);
    const OutputComparison mixed = Compare(with.y, off, with.samples);
    EXPECT_EQ(mixed.over, finite.over);
    EXPECT_EQ(mixed.finite, finite.finite);
    EXPECT_NEAR(mixed.worst_error, finite.worst_error, 0.02 * finite.worst_error);
    EXPECT_EQ(mixed.outcome, finite.outcome);
  }
}

// A gross difference is one wherever it is; so is a small one in many elements.
TEST(CompareOutput, FewElementsThatAreOffByLittleAreNoDifferenceYet) {
  const Runs runs = MakeRuns(1 << 12, 1e-6);
  const auto off = [&](size_t elements, float by) {
    Floats moved = runs.y;
    for (size_t i = 0; i < elements; ++i) moved[97 * i % moved.size()] += by;
    return Compare(runs.y, moved, runs.samples).outcome;
  };
  EXPECT_EQ(off(40, 0.05f), Outcome::kOnceMore);
  EXPECT_EQ(off(40, 0.3f), Outcome::kDifferent);
  EXPECT_EQ(off(400, 0.05f), Outcome::kDifferent);
  EXPECT_EQ(off(400, 1.2e-5f), Outcome::kOnceMore) << "two or three tolerances";
  EXPECT_EQ(off(1, std::numeric_limits<float>::quiet_NaN()), Outcome::kDifferent);
}

// Of noise of 3 %, four times which is more than a tenth.
TEST(CompareOutput, ShowsMoreWhereItIsAsNearAsTheReferenceItself) {
  const Runs runs = MakeRuns(1 << 12, 0.03);
  const auto off = [&](double share) {
    Floats moved = runs.y;
    Rng random(5);
    for (float& x : moved) x *= static_cast<float>(1 + share * (random.Unit() < 0.5 ? -1 : 1));
    return Compare(runs.y, moved, runs.samples);
  };
  const OutputComparison near = off(0.02), far = off(0.06);
  EXPECT_EQ(near.outcome, Outcome::kEqual);
  EXPECT_EQ(near.resolved, near.finite);
  EXPECT_EQ(far.outcome, Outcome::kEqual);
  EXPECT_EQ(far.resolved, 0);
  const Runs wild = MakeRuns(1 << 12, 0.15);
  const OutputComparison nothing = Compare(wild.y, wild.samples[0], wild.samples);
  EXPECT_LT(nothing.resolved, nothing.finite / 10) << "three times the noise of before";
}

// A scale that the reference's own runs are off by is a rounding.
TEST(CompareOutput, AScaleThatIsRoundedMayBeOff) {
  Runs runs = MakeRuns(1 << 12, 0.002);
  for (size_t k = 0; k < runs.samples.size(); ++k) {
    for (float& x : runs.samples[k]) x *= k == 1 ? 0.996f : 1.004f;
  }
  Floats scaled = runs.y;
  for (float& x : scaled) x *= 1.005f;
  EXPECT_EQ(Compare(runs.y, scaled, runs.samples).outcome, Outcome::kEqual);
}

TEST(CompareOutput, IntegersAreExact) {
  const std::vector<int32_t> y = {1, 2, 3};
  EXPECT_EQ(Compare(y, {1, 2, 3}).outcome, Outcome::kEqual);
  const OutputComparison different = Compare(y, {1, 2, 4});
  EXPECT_EQ(different.outcome, Outcome::kDifferent);
  EXPECT_EQ(different.over, 1);
  EXPECT_EQ(different.worst_absolute, 1);
}

TEST(CompareOutput, IntegersMayFlipToWhatSamplesHave) {
  const std::vector<int32_t> y = {1, 2, 3};
  EXPECT_EQ(Compare(y, {1, 2, 3}, {{1, 2, 9}, {1, 2, 4}}).outcome, Outcome::kEqual);
  const OutputComparison flipped = Compare(y, {1, 2, 4}, {{1, 2, 9}, {1, 2, 4}});
  EXPECT_EQ(flipped.outcome, Outcome::kFlips);
  EXPECT_EQ(flipped.unstable, 1);
  EXPECT_EQ(flipped.over, 0);
}

TEST(CompareOutput, IntegersThatHangOnTheLastBitShowNothing) {
  const std::vector<int32_t> y = {1, 2, 3};
  EXPECT_EQ(Compare(y, {1, 2, 5}, {{1, 2, 9}, {1, 2, 4}}).outcome, Outcome::kHangs)
      << "what no sample has";
  EXPECT_EQ(Compare(y, {1, 2, 4}, {{1, 7, 3}, {1, 2, 4}}).outcome, Outcome::kHangs)
      << "one of three is steady";
  // Others flip, but not as this one does: it is different where no sample is.
  EXPECT_EQ(Compare(y, {1, 7, 3}, {{1, 2, 9}, {1, 2, 4}}).outcome, Outcome::kDifferent);
}

// As in a floating-point output, a thousandth may flip where no sample does.
TEST(CompareOutput, FewOfManyIntegersFlipAlone) {
  const std::vector<int32_t> y(5000, 1);
  std::vector<int32_t> candidate = y, few = y, first = y, second = y;
  for (size_t i = 0; i < 8; ++i) {
    first[i * 256] = 2;
    second[i * 256 + 64] = 2;
    candidate[i * 256 + 128] = 2;
  }
  for (size_t i = 0; i < 5; ++i) few[i * 256 + 128] = 2;
  EXPECT_EQ(Compare(y, few, {first, second}).outcome, Outcome::kFlips);
  EXPECT_EQ(Compare(y, few, {y, y}).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(y, candidate, {first, second}).outcome, Outcome::kHangs);
}

TEST(CompareOutput, OneThatStayedInChaosIsNoDifference) {
  std::vector<int32_t> y(100, 0), candidate(100, 1), sample(100, 2);
  sample[5] = 0;
  EXPECT_EQ(Compare(y, candidate, {sample, sample}).outcome, Outcome::kHangs);
  for (int i = 0; i < 10; ++i) sample[i] = 0;
  EXPECT_EQ(Compare(y, candidate, {sample, sample}).outcome, Outcome::kDoubtful);
  for (int i = 0; i < 20; ++i) sample[i] = 0;
  EXPECT_EQ(Compare(y, candidate, {sample, sample}).outcome, Outcome::kDifferent);
}

TEST(CompareOutput, FloatsMayBeOffByRounding) {
  const Runs runs = MakeRuns(100, 0.0005);
  Floats near = runs.y, far = runs.y;
  for (float& x : near) x = std::nextafter(x, 2.0f);
  for (float& x : far) x *= 1.001f;
  EXPECT_EQ(Compare(runs.y, near).outcome, Outcome::kEqual);
  EXPECT_EQ(Compare(runs.y, far).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(runs.y, far).over, 100);
  EXPECT_EQ(Compare(runs.y, far, runs.samples).outcome, Outcome::kEqual);
}

TEST(CompareOutput, WhatMayBeFlushedToZeroMeansNothing) {
  const float least = std::numeric_limits<float>::min();
  const Floats y = {1, 500 * least, 0};
  EXPECT_EQ(Compare(y, Floats{1, 510 * least, 4 * least}).outcome, Outcome::kEqual);
  EXPECT_NE(Compare(y, Floats{1, 500 * least, 100 * least}).outcome, Outcome::kEqual);
}

TEST(CompareOutput, NansAndInfinitiesMustBeInTheSamePlaces) {
  const Floats a = {1, NAN, INFINITY};
  EXPECT_EQ(Compare(a, a).outcome, Outcome::kEqual);
  EXPECT_EQ(Compare(a, Floats{1, 2, INFINITY}).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(a, Floats{1, NAN, -INFINITY}).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(a, Floats{1.5, NAN, INFINITY}).finite, 1);
}

TEST(CompareOutput, SamplesThatFlipExcuseAsManyFlips) {
  const Floats y(64, 1.0f);
  Floats candidate = y, first = y, second = y;
  first[10] = 0;
  second[20] = 0;
  candidate[40] = 0;  // of another block than the samples' flips
  EXPECT_EQ(Compare(y, candidate, {y, y}).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(y, candidate, {first, second}).outcome, Outcome::kFlips);
}

TEST(CompareOutput, ManyFlipsAreChaos) {
  const Floats y(32 * 64, 1.0f);
  Floats candidate = y, first = y, second = y;
  for (size_t i = 0; i < 8; ++i) {
    first[i * 256] = 0;
    second[i * 256 + 64] = 0;
    candidate[i * 256 + 128] = 0;
  }
  EXPECT_EQ(Compare(y, candidate, {first, second}).outcome, Outcome::kHangs);
}

// Wrong results of kinds that compilers produce, among rounding noise.
TEST(CompareOutput, PlantedErrorsAreFound) {
  const Runs runs = MakeRuns(4096, 3e-7);
  const auto outcome = [&](const Floats& z) { return Compare(runs.y, z, runs.samples).outcome; };
  Floats shifted = runs.y;  // an index off by one
  std::rotate(shifted.begin(), shifted.begin() + 1, shifted.end());
  EXPECT_EQ(outcome(shifted), Outcome::kDifferent);
  Floats one = runs.y;  // a single element, of two that are close
  one[1000] = runs.y[1000] * 1.00001f;
  EXPECT_EQ(outcome(one), Outcome::kOnceMore) << "on the next inputs, too, it is different";
  Floats nan = runs.y;
  nan[7] = NAN;
  EXPECT_EQ(outcome(nan), Outcome::kDifferent);
  Floats edge = runs.y;  // the last element is not computed
  edge.back() = 0;
  EXPECT_EQ(outcome(edge), Outcome::kDifferent);
  Floats half = runs.y;  // computed in bf16 on the way
  for (float& x : half) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits &= 0xFFFF0000u;
    std::memcpy(&x, &bits, 4);
  }
  EXPECT_EQ(outcome(half), Outcome::kDifferent);
}

// A sum of 65536 terms, one after the other in f32, where noise is that of sums in parts.
TEST(CompareOutput, ASumThatLosesPrecisionIsFound) {
  Rng random(5);
  Floats y, z;
  std::vector<Floats> samples(3);
  for (int i = 0; i < 64; ++i) {
    double exact = 0;
    float running = 0;
    for (int k = 0; k < 65536; ++k) {
      const auto term = static_cast<float>(random.Unit());
      exact += term;
      running += term;
    }
    y.push_back(static_cast<float>(exact));
    z.push_back(running);
    for (Floats& sample : samples) {
      sample.push_back(static_cast<float>(exact * (1 + 0x1p-23 * (random.Unit() < 0.5 ? -2 : 2))));
    }
  }
  EXPECT_EQ(Compare(y, z, samples).outcome, Outcome::kDifferent);
}

TEST(CompareOutput, ABf16ElementByAFewUnits) {
  const std::vector<uint16_t> y(256, 0x3F80);  // 1.0
  std::vector<uint16_t> candidate = y, noisy = y;
  const auto compare = [&] {
    return CompareOutput(ViewOf("bf16", y), ViewOf("bf16", candidate), {ViewOf("bf16", noisy)})
        .outcome;
  };
  candidate[9] = 0x3F82;  // two units: rounding twice
  EXPECT_EQ(compare(), Outcome::kEqual);
  candidate[9] = 0x3F88;
  EXPECT_EQ(compare(), Outcome::kOnceMore);
  candidate[9] = 0x3FA0;
  EXPECT_EQ(compare(), Outcome::kDifferent);
}

TEST(CompareOutput, ManyElementsInThreadsAsFew) {
  const Runs runs = MakeRuns((1 << 20) + 77, 1e-6);
  Floats z = runs.y;
  for (size_t i = 0; i < z.size(); i += 10007) z[i] *= 1.5f;
  const OutputComparison all = Compare(runs.y, z, runs.samples);
  EXPECT_EQ(all.over, static_cast<int64_t>((z.size() + 10006) / 10007));
  EXPECT_EQ(all.finite, static_cast<int64_t>(z.size()));
  EXPECT_EQ(all.outcome, Outcome::kDifferent);
}

}  // namespace
}  // namespace hone::verify
