#include "jobs/machine_load.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace hone::jobs {
namespace {

void Work(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  volatile uint64_t x = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    x = x + 1;
  }
}

TEST(MachineLoadTest, WhatIsOursIsNotOthers) {
  // A child of ours for each core: what others can have is what those leave.
  const auto cores = std::thread::hardware_concurrency();
  std::vector<pid_t> children;
  const MachineLoad load;
  for (unsigned i = 0; i < cores; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      Work(30);
      _exit(0);
    }
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::optional<double> others = load.OthersCores();
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  if (!others) GTEST_SKIP() << "/proc/stat does not tell here";
  EXPECT_LT(*others, 0.9 * cores);
}

TEST(MachineLoadTest, WhatIsNotOursIs) {
  // A grandchild whose parent is gone belongs to somebody else.
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      Work(30);
      _exit(0);
    }
    (void)!write(pipes[1], &grandchild, sizeof grandchild);
    _exit(0);
  }
  pid_t orphan = 0;
  ASSERT_EQ(read(pipes[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  waitpid(child, nullptr, 0);
  const MachineLoad load;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::optional<double> others = load.OthersCores();
  kill(orphan, SIGKILL);
  close(pipes[0]);
  close(pipes[1]);
  if (!others) GTEST_SKIP() << "/proc/stat does not tell here";
  EXPECT_GT(*others, 0.1);
}

TEST(MachineLoadTest, ReadsWhatAllCoresDid) {
  const auto ticks = ReadProcessorTicks("cpu  1 2 3 40 5 6 7 8 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n");
  ASSERT_TRUE(ticks.has_value());
  EXPECT_EQ(ticks->busy, 1 + 2 + 3 + 6 + 7 + 8);
  EXPECT_EQ(ticks->idle, 40 + 5);
  EXPECT_EQ(ticks->stolen, 8);
  EXPECT_FALSE(ReadProcessorTicks("").has_value());
  EXPECT_FALSE(ReadProcessorTicks("cpu 1 2 3").has_value());
  EXPECT_FALSE(ReadProcessorTicks("intr 1 2 3 4 5 6 7 8").has_value());
}

TEST(MachineLoadTest, AQuietMachineNeedsNoRemark) {
  EXPECT_EQ(BesideOthers(0.1), "");
  EXPECT_NE(BesideOthers(1.25).find("other processes kept 1.2 cores busy"), std::string::npos);
}

TEST(MachineLoadTest, TooShortToTell) {
  EXPECT_FALSE(MachineLoad().OthersCores().has_value());
}

}  // namespace
}  // namespace hone::jobs
