#include "wire/awake.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace hone::wire {
namespace {

TEST(Awake, SleepsAtOnceWhereNoProcessorIsToSpare) {
  Awake awake(std::chrono::milliseconds(0));
  awake.Begin();
  EXPECT_FALSE(awake.Pause());
}

TEST(Awake, SleepsOnceItsTimeIsOver) {
  Awake awake(std::chrono::milliseconds(2));
  const auto start = Awake::Clock::now();
  awake.Begin();
  while (awake.Pause()) {
  }
  EXPECT_LT(Awake::Clock::now() - start, std::chrono::seconds(10));
}

// Another thread never lets go of the only processor that this one has.
TEST(Awake, SleepsWhereSomebodyElseTakesTheProcessor) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0) GTEST_SKIP() << "processors are given out here";
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
    }
  });
  Awake awake(std::chrono::hours(1));
  awake.Begin();
  while (awake.Pause()) {
  }
  awake.Begin();  // the next one does not try
  EXPECT_FALSE(awake.Pause());
  over = true;
  other.join();
  sched_setaffinity(0, sizeof(all), &all);
}

}  // namespace
}  // namespace hone::wire
