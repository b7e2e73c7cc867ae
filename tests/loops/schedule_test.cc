#include "loops/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loops/payload.h"

namespace hone::loops {
namespace {

using testing::HasSubstr;

Program Of(const std::string& text) {
  const auto task = ParseTask(text);
  EXPECT_TRUE(task) << task.error().message;
  return Expand(*task);
}
Program Product() {
  return Of("task t\ninput a f32[8,16]\ninput b f32[16,12]\nc = matmul a b\noutput c\n");
}
Program Softmax() { return Of("task t\ninput x f32[8,16]\ny = softmax x\noutput y\n"); }

Schedule Read(const std::string& text) {
  const auto schedule = ParseSchedule(text);
  EXPECT_TRUE(schedule) << schedule.error().message;
  return schedule.value_or(Schedule{});
}

TEST(Schedule, IsWrittenAsItIsRead) {
  const std::string text =
      "c pack 4,3,0\nc interchange 1,0,2,3,4\nc parallel 1,0,0,0,0\nc tile 1,1,0,0,0\n"
      "y fuse x\nc vectorize\nc unroll 2\n";
  EXPECT_EQ(ScheduleText(Read("# a comment\n" + text)), text);
}

TEST(Schedule, WhatIsNoDecisionIsAnErrorWithItsLine) {
  for (const char* text : {"c", "c frob 1", "c tile", "c tile a", "c tile 1,,2", "c tile 1 2",
                           "c vectorize 3", "c tile 99999999999999999999"}) {
    const auto schedule = ParseSchedule(std::string("\n") + text + "\n");
    ASSERT_FALSE(schedule) << text;
    EXPECT_THAT(schedule.error().message, HasSubstr("line 2"));
  }
}

TEST(Schedule, ALegalOneIsMadeStepByStep) {
  const auto scheduled = Apply(
      Product(),
      Read(
          "c pack 4,3,0\nc parallel 1,0,0,0,0\nc tile 1,1,0,0,0\nc tile 0,0,4,0,0\nc vectorize\n"));
  ASSERT_TRUE(scheduled) << scheduled.error().message;
  const SiteState& state = scheduled->states().back();
  EXPECT_EQ(state.loops[2].extent, 4);
  EXPECT_EQ(state.loops[3].extent, 4);
  EXPECT_TRUE(state.vectorized);
}

struct Illegal {
  const char* schedule;
  const char* message;
};

class IllegalSchedule : public testing::TestWithParam<Illegal> {};

TEST_P(IllegalSchedule, IsRefusedWithAReason) {
  const auto scheduled = Apply(Product(), Read(GetParam().schedule));
  ASSERT_FALSE(scheduled);
  EXPECT_THAT(scheduled.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, IllegalSchedule,
    testing::Values(
        Illegal{"x tile 1,1,1\n", "no site"}, Illegal{"c tile 1,1\n", "takes 3 numbers"},
        Illegal{"c tile 3,0,0\n", "do not divide"}, Illegal{"c tile 0,0,0\n", "no loop is tiled"},
        Illegal{"c tile 8,12,16\n", "no loop is tiled"},
        Illegal{"c tile -1,0,0\n", "do not divide"}, Illegal{"c parallel 0,0,4\n", "sums up"},
        Illegal{"c parallel 4,0,0\nc parallel 2,0,0\n", "once"},
        Illegal{"c tile 4,0,0\nc pack 2,0,0\n", "before any other"},
        Illegal{"c pack 8,0,0\n", "a block of 8"},
        Illegal{"c interchange 0,0,1\n", "no permutation"},
        Illegal{"c interchange 0,1,2\n", "changes nothing"},
        Illegal{"c tile 4,0,0\nc tile 2,0,0\nc tile 1,0,0\n", "two levels"},
        Illegal{"c vectorize\nc tile 4,0,0\n", "vectorised already"},
        Illegal{"c unroll 2\n", "no loop that is run"},
        Illegal{"c tile 0,0,4\nc unroll 99\n", "2 to 16"},
        Illegal{"c tile 1,0,0\nc fuse a\n", "no site a"}));

class IllegalAttention : public testing::TestWithParam<Illegal> {};

TEST_P(IllegalAttention, IsRefusedWithAReason) {
  const auto task = ParseTask(
      "task t\ninput q f32[2,24,8]\ns := scores q q\ny = attend s q\nz = relu y\noutput z\n");
  ASSERT_TRUE(task) << task.error().message;
  const auto scheduled = Apply(Expand(*task), Read(GetParam().schedule));
  ASSERT_FALSE(scheduled);
  EXPECT_THAT(scheduled.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, IllegalAttention,
    testing::Values(Illegal{"y vectorize\n", "parallel, tile and unroll"},
                    Illegal{"y pack 0,8,0,0,0\n", "parallel, tile and unroll"},
                    Illegal{"y parallel 0,0,4,0,0\n", "cannot share loop 2"},
                    Illegal{"y parallel 0,25,0,0,0\n", "only 24 iterations"},
                    Illegal{"y parallel 1,0,0,0,0\ny parallel 1,0,0,0,0\n", "once"},
                    Illegal{"y tile 1,8,0,0,0\n", "loop 0 stays whole"},
                    Illegal{"y tile 0,12,0,0,0\n", "power of two"},
                    Illegal{"y tile 0,8,0,0,0\ny tile 0,4,0,0,0\n", "tiled already"},
                    Illegal{"y tile 0,0,0,0,0\n", "no loop is tiled"},
                    Illegal{"y tile 0,-8,0,0,0\n", "tiles of -8"},
                    Illegal{"y unroll 1\n", "2 to 16"},
                    Illegal{"z parallel 24\nz fuse y\n", "by itself"}));

class IllegalProduct : public testing::TestWithParam<Illegal> {};

TEST_P(IllegalProduct, IsRefusedWithAReason) {
  const auto task = ParseTask(
      "task t\ninput a f32[2,24,600]\ninput b f32[2,600,900]\ny = product a b\noutput y\n");
  ASSERT_TRUE(task) << task.error().message;
  const auto scheduled = Apply(Expand(*task), Read(GetParam().schedule));
  ASSERT_FALSE(scheduled);
  EXPECT_THAT(scheduled.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, IllegalProduct,
    testing::Values(Illegal{"y vectorize\n", "parallel and tile"},
                    Illegal{"y unroll 2\n", "parallel and tile"},
                    Illegal{"y parallel 0,0,0,4\n", "sums up"},
                    Illegal{"y parallel 0,25,0,0\n", "only 24 iterations"},
                    Illegal{"y parallel 1,0,0,0\ny parallel 1,0,0,0\n", "once"},
                    Illegal{"y tile 1,8,0,0\n", "loop 0 goes one by one"},
                    Illegal{"y tile 0,24,900,600\n", "bytes, more than"},
                    Illegal{"y tile 0,24,64,64\ny tile 0,8,16,4\n", "terms go one by one"},
                    Illegal{"y tile 0,24,64,64\ny tile 0,17,16,0\n", "at most 16 rows"},
                    Illegal{"y tile 0,24,64,64\ny tile 0,8,48,0\n", "a power of two"},
                    Illegal{"y tile 0,24,64,64\ny tile 0,8,16,0\ny tile 0,4,0,0\n", "two levels"},
                    Illegal{"y tile 0,0,0,0\n", "no loop is tiled"},
                    Illegal{"y tile 0,-8,0,0\n", "tiles of -8"}));

TEST(Schedule, RowsAndTermsOfAConvolutionCountAtTheLastOfTheirLoops) {
  const Program program =
      Of("task t\ninput x f32[2,9,10,16]\ninput w f32[3,3,16,24]\n"
         "y = convolve x w sizes=9,10 pads=1,1\noutput y\n");
  EXPECT_TRUE(Apply(program, Read("y parallel 0,0,180,0,0,0,0\ny tile 0,0,100,24,0,0,144\n")));
  for (const auto& [schedule, message] : std::vector<std::pair<const char*, const char*>>{
           {"y parallel 1,0,0,0,0,0,0\n", "loop 0 counts with those that follow it, at loop 2"},
           {"y tile 0,0,0,0,1,0,0\n", "loop 4 counts with those that follow it, at loop 6"},
           {"y parallel 0,0,181,0,0,0,0\n", "only 180 iterations"},
           {"y tile 0,0,0,0,0,0,145\n", "only 144 iterations"}}) {
    const auto scheduled = Apply(program, Read(schedule));
    ASSERT_FALSE(scheduled) << schedule;
    EXPECT_THAT(scheduled.error().message, HasSubstr(message));
  }
}

TEST(Schedule, OfWhatSlidesPositionsAndFeaturesAreDecided) {
  const Program program =
      Of("task t\ninput x f32[2,9,10,24]\ninput w f32[3,3,24]\n"
         "y = depthwise x w sizes=9,10 pads=1,1\noutput y\n");
  EXPECT_TRUE(Apply(program, Read("y parallel 1,3,5,8,0,0\ny tile 0,0,12,16,0,0\n")));
  for (const auto& [schedule, message] : std::vector<std::pair<const char*, const char*>>{
           {"y vectorize\n", "there is parallel and tile to decide"},
           {"y parallel 0,0,0,0,1,0\n", "loop 4 sums up"},
           {"y parallel 0,10,0,0,0,0\n", "only 9 iterations"},
           {"y tile 0,1,0,0,0,0\n", "loop 1 goes one by one"},
           {"y tile 0,0,17,0,0,0\n", "at most 16 positions"},
           {"y tile 0,0,0,24,0,0\n", "a power of two"},
           {"y tile 0,0,4,0,0,0\ny tile 0,0,2,0,0,0\n", "tiled already"}}) {
    const auto scheduled = Apply(program, Read(schedule));
    ASSERT_FALSE(scheduled) << schedule;
    EXPECT_THAT(scheduled.error().message, HasSubstr(message));
  }
}

TEST(Schedule, ProducersAreFusedConsumersFirst) {
  EXPECT_TRUE(Apply(Softmax(), Read("y parallel 2,0\ny fuse y.sum\ny fuse y.exp\ny fuse y.max\n")));
  const auto too_early = Apply(Softmax(), Read("y parallel 2,0\ny fuse y.exp\n"));
  ASSERT_FALSE(too_early);
  EXPECT_THAT(too_early.error().message, HasSubstr("y.sum takes it too"));
}

TEST(Schedule, AFusedNestHasTheSizeOfItsTile) {
  const auto scheduled = Apply(Softmax(), Read("y parallel 2,0\ny fuse y.sum\ny fuse y.exp\n"));
  ASSERT_TRUE(scheduled) << scheduled.error().message;
  const SiteState& state = scheduled->states()[1];  // y.exp
  EXPECT_EQ(state.loops[0].extent, 2);
  EXPECT_EQ(state.loops[1].extent, 16);
}

TEST(Schedule, AStridedOrSlidingReadIsNotVectorised) {
  const Program pool =
      Of("task t\ninput x f32[1,4,9,9]\ny = pool_max x window=3,3 strides=2,2\noutput y\n");
  EXPECT_FALSE(Apply(pool, Read("y tile 1,1,0,1,1\ny vectorize\n")));
  const Program dense = Of("task t\ninput x f32[1,4,9,9]\ny = pool_max x window=3,3\noutput y\n");
  EXPECT_FALSE(Apply(dense, Read("y tile 1,1,0,1,0\ny vectorize\n")));
  EXPECT_TRUE(Apply(dense, Read("y tile 1,1,0,1,1\ny vectorize\n")));
}

TEST(Payload, IsTheSameForTheSameSchedule) {
  const auto make = [] {
    const auto scheduled = Apply(Product(), Read("c pack 4,3,0\nc tile 1,1,0,0,0\nc vectorize\n"));
    const Payload payload = MakePayload(*scheduled);
    return payload.module + payload.script;
  };
  EXPECT_EQ(make(), make());
  EXPECT_THAT(make(), HasSubstr("tile_using_forall"));
}

TEST(Divisors, AreInOrder) {
  EXPECT_EQ(Scheduled::Divisors(12, true), (std::vector<int64_t>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(Scheduled::Divisors(9, false), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(Scheduled::Divisors(7, true), (std::vector<int64_t>{1, 7}));
}

}  // namespace
}  // namespace hone::loops
