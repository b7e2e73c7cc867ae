// When outputs of a device count as equal.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/rng.h"
#include "device/compare.h"
#include "device/element_types.h"

namespace hone::device {
namespace {

template <class T>
DeviceArray ArrayOf(const char* type, const std::vector<T>& values) {
  DeviceArray array{type, {static_cast<int64_t>(values.size())}, {}};
  array.bytes.resize(values.size() * sizeof(T));
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

OutputComparison Compare(const DeviceArray& a, const DeviceArray& b,
                         const std::vector<DeviceArray>& samples = {}) {
  std::vector<const DeviceArray*> pointers;
  for (const DeviceArray& sample : samples) pointers.push_back(&sample);
  return CompareOutput(a, b, pointers);
}

TEST(CompareOutputs, IntegersAreExact) {
  const auto a = ArrayOf<int32_t>("s32", {1, 2, 3});
  EXPECT_EQ(Compare(a, a).outcome, Outcome::kEqual);
  const auto b = ArrayOf<int32_t>("s32", {1, 2, 4});
  EXPECT_EQ(Compare(a, b).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(a, b).over, 1);
  // Where the reference itself varies, anything goes.
  EXPECT_EQ(Compare(a, b, {ArrayOf<int32_t>("s32", {1, 2, 9})}).outcome, Outcome::kEqual);
}

TEST(CompareOutputs, FloatsMayBeOffByRounding) {
  std::vector<float> y(100), near(100), far(100), noisy(100);
  Rng random(3);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = static_cast<float>(random.Unit() + 0.5);
    near[i] = std::nextafter(y[i], 2.0f);
    far[i] = y[i] * 1.001f;
    noisy[i] = y[i] * (1 + 0.0005f * (random.Unit() < 0.5 ? -1.0f : 1.0f));
  }
  const auto a = ArrayOf("f32", y);
  EXPECT_EQ(Compare(a, ArrayOf("f32", near)).outcome, Outcome::kEqual);
  EXPECT_EQ(Compare(a, ArrayOf("f32", far)).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(a, ArrayOf("f32", far)).over, 100);
  EXPECT_EQ(Compare(a, ArrayOf("f32", far), {ArrayOf("f32", noisy)}).outcome, Outcome::kEqual);
}

TEST(CompareOutputs, NansAndInfinitiesMustBeInTheSamePlaces) {
  const float nan = NAN;
  const float infinity = INFINITY;
  const auto a = ArrayOf<float>("f32", {1, nan, infinity});
  EXPECT_EQ(Compare(a, a).outcome, Outcome::kEqual);
  EXPECT_EQ(Compare(a, ArrayOf<float>("f32", {1, 2, infinity})).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(a, ArrayOf<float>("f32", {1, nan, -infinity})).outcome, Outcome::kDifferent);
  EXPECT_EQ(Compare(a, a).finite, 1);
}

TEST(CompareOutputs, SamplesThatFlipExcuseAsManyFlips) {
  std::vector<float> y(64, 1.0f), candidate = y, first = y, second = y;
  candidate[3] = 0;
  first[10] = 0;
  second[20] = 0;
  const auto a = ArrayOf("f32", y);
  EXPECT_EQ(Compare(a, ArrayOf("f32", candidate), {a, a}).outcome, Outcome::kDifferent);
  // Of the block of 32 with `first` in it the candidate's flip is within; it takes another block.
  candidate[3] = 1;
  candidate[40] = 0;
  EXPECT_EQ(Compare(a, ArrayOf("f32", candidate), {ArrayOf("f32", first), ArrayOf("f32", second)})
                .outcome,
            Outcome::kEqual);
}

TEST(Perturbed, MovesRealNumbersOnlyAndTheSameWayForASeed) {
  DeviceInputs inputs{"x",
                      {ArrayOf<float>("f32", {0.1f, 1.0f, 0.0f, INFINITY, -0.3f}),
                       ArrayOf<int32_t>("s32", {5, 6})}};
  const DeviceInputs moved = Perturbed(inputs, 7);
  EXPECT_NE(moved.name, inputs.name);
  EXPECT_EQ(moved.arrays[1].bytes, inputs.arrays[1].bytes);
  const auto values = Values(*FindElementType("f32"), moved.arrays[0].bytes.data(), 0, 5);
  EXPECT_NE(values[0], static_cast<double>(0.1f));
  EXPECT_NEAR(values[0], 0.1, 2e-8);
  EXPECT_EQ(values[1], 1) << "few bits: exact";
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(values[3], INFINITY);
  EXPECT_NEAR(values[4], -0.3, 5e-8);
  EXPECT_EQ(Perturbed(inputs, 7).arrays[0].bytes, moved.arrays[0].bytes);
}

}  // namespace
}  // namespace hone::device
