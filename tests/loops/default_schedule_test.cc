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

}  // namespace
}  // namespace hone::loops
