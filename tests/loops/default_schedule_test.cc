#include "loops/default_schedule.h"

#include <gtest/gtest.h>

#include "loops/tasks.h"

namespace hone::loops {
namespace {

const Machine kMachines[] = {{1, 16, 16}, {2, 32, 16}, {2, 64, 32}, {64, 64, 32}};

TEST(DefaultSchedule, IsLegalForEachTaskThatComesWithHone) {
  for (const KnownTask& known : KnownTasks()) {
    const auto task = ParseTask(known.text);
    ASSERT_TRUE(task);
    for (const Machine& machine : kMachines) {
      const Schedule schedule = DefaultSchedule(Expand(*task), machine);
      const auto scheduled = Apply(Expand(*task), schedule);
      EXPECT_TRUE(scheduled) << known.name << ": " << scheduled.error().message;
      EXPECT_EQ(ScheduleText(DefaultSchedule(Expand(*task), machine)), ScheduleText(schedule));
    }
  }
}

TEST(DefaultSchedule, VectorisesProducts) {
  const auto task = ParseTask(FindKnownTask("matmul_512_512_512")->text);
  const auto scheduled = Apply(Expand(*task), DefaultSchedule(Expand(*task), kMachines[1]));
  ASSERT_TRUE(scheduled);
  EXPECT_TRUE(
      scheduled->states()[static_cast<size_t>(scheduled->program().FindSite("c"))].vectorized);
}

TEST(DefaultSchedule, ComputesASoftmaxRowByRow) {
  const auto task = ParseTask(FindKnownTask("softmax_64_128")->text);
  const auto scheduled = Apply(Expand(*task), DefaultSchedule(Expand(*task), kMachines[1]));
  ASSERT_TRUE(scheduled);
  for (const char* site : {"y.max", "y.exp", "y.sum"}) {
    const auto nest = static_cast<size_t>(scheduled->program().FindSite(site));
    EXPECT_EQ(scheduled->states()[nest].fused_into, scheduled->program().FindSite("y")) << site;
  }
}

Schedule Default(const char* text, const Machine& machine) {
  const auto task = ParseTask(text);
  EXPECT_TRUE(task) << task.error().message;
  const Schedule schedule = DefaultSchedule(Expand(*task), machine);
  EXPECT_TRUE(Apply(Expand(*task), schedule));
  return schedule;
}

// What is reduced over rows is read row by row: no processor takes a few columns of each.
TEST(DefaultSchedule, SharesRowsOfWhatReducesColumns) {
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[4096,1024]\ny = reduce_max x axes=0\n"
                                 "output y\n",
                                 kMachines[2])),
            "y.part parallel 1,0,0\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[64,8192]\ny = reduce_max x axes=0\n"
                                 "output y\n",
                                 kMachines[2])),
            "y parallel 0,2048\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[64,64]\ny = reduce_max x axes=0\n"
                                 "output y\n",
                                 kMachines[2])),
            "");
}

TEST(DefaultSchedule, SharesHeadsAndThenQueriesOfAttention) {
  const char* const many = "task t\ninput q f32[2,8,256,64]\ny = attention q q q\noutput y\n";
  EXPECT_EQ(ScheduleText(Default(many, kMachines[2])),
            "y parallel 1,1,0,0,0,0\ny tile 0,0,32,0,64,0\ny unroll 8\n");
  EXPECT_EQ(ScheduleText(Default(many, kMachines[0])), "y tile 0,0,8,0,64,0\ny unroll 4\n");
  const char* const one = "task t\ninput q f32[1,1,999,64]\ny = attention q q q\noutput y\n";
  EXPECT_EQ(ScheduleText(Default(one, kMachines[2])),
            "y parallel 0,0,64,0,0,0\ny tile 0,0,32,0,64,0\ny unroll 8\n");
}

// Blocks that fit the registers, parts that processors share, and what is packed is near.
TEST(DefaultSchedule, BlocksProductsForRegistersAndCaches) {
  const char* const square =
      "task t\ninput a f32[512,512]\ny = product a a\noutput y\n";
  EXPECT_EQ(ScheduleText(Default(square, kMachines[2])),
            "y parallel 128,256,0\ny tile 128,256,256\ny tile 8,32,0\n");
  EXPECT_EQ(ScheduleText(Default(square, kMachines[0])),
            "y tile 102,280,256\ny tile 6,8,0\n");
  // No row of the last block is left over where a smaller block leaves none.
  EXPECT_EQ(ScheduleText(Default("task t\ninput a f32[49,64]\ninput b f32[64,64]\n"
                                 "y = product a b\noutput y\n",
                                 kMachines[2])),
            "y tile 49,64,64\ny tile 7,32,0\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput a f64[6,2,100,100]\ny = product a a\noutput y\n",
                                 kMachines[2])),
            "y parallel 1,1,0,0,0\ny tile 0,0,100,100,100\ny tile 0,0,8,16,0\n");
}

TEST(DefaultSchedule, TakesWholeTapsOfAConvolution) {
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[8,56,56,64]\ninput w f32[3,3,64,64]\n"
                                 "y = convolve x w sizes=56,56 pads=1,1\noutput y\n",
                                 kMachines[2])),
            "y parallel 0,0,6272,0,0,0,0\ny tile 0,0,136,64,0,0,256\ny tile 0,0,8,32,0,0,0\n");
  // Rows run through the images' memory, 48 at a time: no block of 8 ends within.
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[2,9,9,48]\ninput d f32[2,9,9,32]\n"
                                 "t := transpose x permutation=3,1,2,0\n"
                                 "u := transpose d permutation=1,2,0,3\n"
                                 "y = convolve t u sizes=3,3 pads=1,1 permutation=1,2,0,3\n"
                                 "output y\n",
                                 kMachines[0])),
            "y tile 0,0,144,32,0,0,162\ny tile 0,0,6,8,0,0,0\n");
}

}  // namespace
}  // namespace hone::loops
