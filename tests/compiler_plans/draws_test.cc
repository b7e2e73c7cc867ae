#include "compiler/run/draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hone::compiler {
namespace {

// One after the other, as the definition has it: what vectors make must be the same to the bit.
double Drawn(const Distribution& of, Generator& generator) {
  constexpr double kScales[16] = {1, 0.25, 0.0625, 0.015625, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const uint64_t draw = generator();
  double value = of.what == Distribution::kUniform ? UniformOf(draw) : BellOf(draw);
  if (of.what == Distribution::kAbsoluteBell) value = std::fabs(value);
  if (of.what == Distribution::kMagnitudes) {
    value *= of.factor;
    return value * kScales[static_cast<uint64_t>(std::fabs(value) * 0x1.0p40) & 15];
  }
  value *= of.factor;
  value += of.least;
  return value * of.times / of.over;
}

TEST(Draws, ManyAtATimeAreTheSame) {
  for (const Distribution& of : {Distribution{}, Distribution{Distribution::kBell, 0.01},
                                 Distribution{Distribution::kAbsoluteBell, 0.3, 0.05},
                                 Distribution{Distribution::kUniform, 1, 0.1, 1.7, 768},
                                 Distribution{Distribution::kMagnitudes, 0.3},
                                 Distribution{Distribution::kMagnitudes, 0.0361}}) {
    Generator many(7), one(7);
    for (const int64_t count : {1, 3, 512, 1000, 5}) {
      std::vector<double> values(static_cast<size_t>(count));
      of.Fill(many, values.data(), count);
      for (const double value : values) EXPECT_EQ(value, Drawn(of, one));
    }
    EXPECT_EQ(many(), one());
  }
}

TEST(Draws, HaveTheDistributionsThatTheySay) {
  constexpr int64_t kCount = 100'000;
  std::vector<double> values(kCount);
  Generator generator(3);
  const auto deviation = [&](const Distribution& of) {
    of.Fill(generator, values.data(), kCount);
    double sum = 0, squares = 0;
    for (const double value : values) {
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / kCount, of.what == Distribution::kUniform ? 0.5 : 0, 0.02);
    return std::sqrt(squares / kCount);
  };
  EXPECT_NEAR(deviation({Distribution::kBell, 0.5}), 0.5, 0.01);
  EXPECT_NEAR(deviation({Distribution::kUniform}), std::sqrt(1.0 / 3), 0.01);
  EXPECT_NEAR(deviation({Distribution::kMagnitudes}), std::sqrt((13 + 1.0 / 16) / 16), 0.01);
}

}  // namespace
}  // namespace hone::compiler
