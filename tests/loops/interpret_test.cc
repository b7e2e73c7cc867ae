#include "loops/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace hone::loops {
namespace {

Values Outcome(const char* text, std::vector<Values> inputs,
               const std::vector<int64_t>& points = {}) {
  const auto task = ParseTask(text);
  EXPECT_TRUE(task) << task.error().message;
  return Interpret(*task, std::move(inputs), points)[0];
}

TEST(Interpret, Products) {
  EXPECT_EQ(Outcome("task t\ninput a f32[2,3]\ninput b f32[3,2]\nc = matmul a b\noutput c\n",
                    {{1, 2, 3, 4, 5, 6}, {1, 0, 0, 1, 1, 1}}),
            (Values{4, 5, 10, 11}));
  EXPECT_EQ(
      Outcome("task t\ninput a f32[2,1,2]\ninput b f32[2,2,1]\nc = batch_matmul a b\noutput c\n",
              {{1, 2, 3, 4}, {1, 1, 2, 2}}),
      (Values{3, 14}));
  EXPECT_EQ(Outcome("task t\ninput a f32[2,3,1]\ninput b f32[2,1,2]\n"
                    "y = product a b permutation=1,0,2\noutput y\n",
                    {{1, 2, 3, 4, 5, 6}, {1, 10, 2, 20}}),
            (Values{1, 10, 8, 80, 2, 20, 10, 100, 3, 30, 12, 120}));
}

TEST(Interpret, Windows) {
  const Values image = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(Outcome("task t\ninput x f32[1,1,3,3]\ny = pool_max x window=2,2\noutput y\n", {image}),
            (Values{5, 6, 8, 9}));
  EXPECT_EQ(
      Outcome("task t\ninput x f32[1,1,3,3]\ny = pool_sum x window=1,1 strides=2,2\noutput y\n",
              {image}),
      (Values{1, 3, 7, 9}));
  EXPECT_EQ(Outcome("task t\ninput x f32[1,1,3,3]\ninput w f32[2,1,2,2]\n"
                    "y = conv2d x w dilations=2,2\noutput y\n",
                    {image, {1, 1, 1, 1, 0, 0, 0, 1}}),
            (Values{1 + 3 + 7 + 9, 9}));
}

TEST(Interpret, Convolutions) {
  const Values image = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(Outcome("task t\ninput x f32[1,3,3,1]\ninput w f32[2,2,1,2]\n"
                    "y = convolve x w sizes=2,2 pads=1,0 strides=2,1\noutput y\n",
                    {image, {1, 0, 1, 0, 1, 0, 1, 10}}),
            (Values{1 + 2, 20, 2 + 3, 30, 4 + 5 + 7 + 8, 80, 5 + 6 + 8 + 9, 90}));
  EXPECT_EQ(Outcome("task t\ninput x f32[2,3,1]\ninput w f32[2,1,1]\n"
                    "y = convolve x w sizes=2 pads=-1 dilations=2 permutation=1,0,2\noutput y\n",
                    {{1, 2, 3, 4, 5, 6}, {1, 10}}),
            (Values{2, 5, 3, 6}));
  EXPECT_EQ(Outcome("task t\ninput x f32[1,3,1]\ninput w f32[2,1,1]\n"
                    "y = convolve x w sizes=3 dilations=-1\noutput y\n",
                    {{1, 2, 3}, {1, 10}}),
            (Values{1, 12, 23}));
}

TEST(Interpret, DepthwiseConvolutions) {
  EXPECT_EQ(Outcome("task t\ninput x f32[1,3,2]\ninput w f32[2,2]\n"
                    "y = depthwise x w sizes=3 pads=1\noutput y\n",
                    {{1, 2, 3, 4, 5, 6}, {1, 10, 100, 1000}}),
            (Values{100, 2000, 301, 4020, 503, 6040}));
  EXPECT_EQ(Outcome("task t\ninput x f32[1,3,3,1]\ninput w f32[1,2,2]\n"
                    "t := transpose w permutation=1,2,0\n"
                    "y = depthwise x t sizes=1,2 strides=2,1 dilations=2,-1 pads=-1,-1\noutput y\n",
                    {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 10, 100, 1000}}),
            (Values{5 + 40, 6 + 50}));
}

TEST(Interpret, RowsAndColumns) {
  const Values x = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Outcome("task t\ninput x f32[2,3]\ny = reduce_sum x axes=0\noutput y\n", {x}),
            (Values{5, 7, 9}));
  EXPECT_EQ(Outcome("task t\ninput x f32[2,3]\ny = reduce_max x axes=1\noutput y\n", {x}),
            (Values{3, 6}));
  EXPECT_EQ(Outcome("task t\ninput x f32[2,3]\ny = transpose x permutation=1,0\noutput y\n", {x}),
            (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(Outcome("task t\ninput x f32[2,3]\ninput b f32[3]\ny = add x b\noutput y\n",
                    {x, {10, 20, 30}}),
            (Values{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ(Outcome("task t\ninput x f32[2,3]\ny = reduce_sum x axes=0,1\noutput y\n", {x}),
            (Values{21}));
  EXPECT_EQ(Outcome("task t\ninput x f32[2,3]\na := slice x starts=0,1 sizes=2,2\n"
                    "b := slice x starts=0,0 sizes=2,2\ny = multiply a b\noutput y\n",
                    {x}),
            (Values{2, 6, 20, 30}));
}

TEST(Interpret, RunningSumsAndMaxima) {
  const Values x = {1, 5, 2, 4, 3, 6};
  const auto outcome = [&](const std::string& shape, const std::string& what) {
    const std::string text = "task t\ninput x f32[" + shape + "]\ny = " + what + "\noutput y\n";
    return Outcome(text.c_str(), {x});
  };
  EXPECT_EQ(outcome("2,3", "running_sum x"), (Values{1, 6, 8, 4, 7, 13}));
  EXPECT_EQ(outcome("2,3", "running_sum x reverse=1"), (Values{8, 7, 2, 13, 9, 6}));
  EXPECT_EQ(outcome("1,3,2", "running_max x"), (Values{1, 5, 2, 5, 3, 6}));
}

TEST(Interpret, LinesThatLieSideBySideRunByThemselvesAndFromTheEnd) {
  EXPECT_EQ(Outcome("task t\ninput x f32[2,3,2]\ny = running_sum x reverse=1\noutput y\n",
                    {{1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60}}),
            (Values{6, 60, 5, 50, 3, 30, 15, 150, 11, 110, 6, 60}));
}

// Anew for each element it would be minutes.
TEST(Interpret, ALongRunningSumIsTakenOnce) {
  constexpr size_t kSize = 1 << 19;
  const auto task = ParseTask("task t\ninput x f64[1,524288]\ny = running_sum x\noutput y\n");
  ASSERT_TRUE(task);
  EXPECT_EQ(Interpret(*task, {Values(kSize, 1)})[0].back(), kSize);
  const Values noisy = Interpret(*task, {Values(kSize, 1)}, {}, 1)[0];
  EXPECT_NEAR(noisy[1000], 1001, 1001 * 1001 * 0x1p-52);
  EXPECT_NEAR(noisy[kSize - 1] - noisy[kSize - 2], 1, kSize * 0x1p-51);
}

TEST(Interpret, ReturnsNothingOnceItIsOver) {
  const auto task = ParseTask("task t\ninput x f32[1000]\ny = exp x\noutput y\n");
  ASSERT_TRUE(task);
  int asked = 0;
  EXPECT_TRUE(Interpret(*task, {Values(1000, 1)}, {}, 0, [&] { return ++asked == 3; }).empty());
  EXPECT_EQ(asked, 3);
}

TEST(Interpret, Comparisons) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto outcome = [&](const std::string& kind) {
    const std::string text =
        "task t\ninput a f32[4]\ninput b f32[4]\ny = " + kind + " a b\noutput y\n";
    return Outcome(text.c_str(), {{1, 2, 3, nan}, {2, 2, 2, nan}});
  };
  EXPECT_EQ(outcome("equal"), (Values{0, 1, 0, 0}));
  EXPECT_EQ(outcome("not_equal"), (Values{1, 0, 1, 1}));
  EXPECT_EQ(outcome("less"), (Values{1, 0, 0, 0}));
  EXPECT_EQ(outcome("less_equal"), (Values{1, 1, 0, 0}));
}

TEST(Interpret, SoftmaxSumsToOneAndNormsHaveNoMean) {
  const Values soft =
      Outcome("task t\ninput x f64[1,4]\ny = softmax x\noutput y\n", {{1, 2, 3, 4}});
  EXPECT_NEAR(soft[0] + soft[1] + soft[2] + soft[3], 1, 1e-12);
  EXPECT_NEAR(soft[1] / soft[0], std::exp(1.0), 1e-12);
  const Values norm = Outcome(
      "task t\ninput x f64[1,2]\ninput g f64[2]\ninput b f64[2]\ny = layer_norm x g b\noutput y\n",
      {{-1000, 1000}, {1, 2}, {5, 0}});
  EXPECT_NEAR(norm[0], 4, 1e-9);
  EXPECT_NEAR(norm[1], 2, 1e-9);
}

TEST(Interpret, AttentionToEqualKeysIsTheMeanOfTheValues) {
  const Values out = Outcome(
      "task t\ninput q f64[1,1,1,2]\ninput k f64[1,1,3,2]\ninput v f64[1,1,3,1]\n"
      "y = attention q k v\noutput y\n",
      {{3, 4}, {1, 1, 1, 1, 1, 1}, {1, 2, 6}});
  EXPECT_NEAR(out[0], 3, 1e-12);
}

TEST(Interpret, PointsAreThoseOfTheWhole) {
  const char* const text = "task t\ninput a f32[2,2]\ninput b f32[2,2]\nc = matmul a b\noutput c\n";
  const std::vector<Values> inputs = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  const Values all = Outcome(text, inputs);
  EXPECT_EQ(Outcome(text, inputs, {1, 3}), (Values{all[1], all[3]}));
}

TEST(Interpret, NoiseIsOfTheSizeOfRoundings) {
  const auto task =
      ParseTask("task t\ninput a f32[1,1000]\ninput b f32[1000,1]\nc = matmul a b\noutput c\n");
  ASSERT_TRUE(task);
  const std::vector<Values> inputs = {Values(1000, 1), Values(1000, 0.1)};
  const double exact = Interpret(*task, inputs)[0][0];
  const double noisy = Interpret(*task, inputs, {}, 1)[0][0];
  EXPECT_NE(noisy, exact);
  EXPECT_NEAR(noisy, exact, 1000 * 0x1p-23 * exact);
  EXPECT_EQ(noisy, Interpret(*task, inputs, {}, 1)[0][0]);
  EXPECT_NE(noisy, Interpret(*task, inputs, {}, 2)[0][0]);
}

TEST(Interpret, IntegersWrapAround) {
  EXPECT_EQ(Outcome("task t\ninput a s32[1]\ninput b s32[1]\nc = add a b\noutput c\n",
                    {{2147483647}, {1}}),
            (Values{-2147483648.0}));
}

}  // namespace
}  // namespace hone::loops
