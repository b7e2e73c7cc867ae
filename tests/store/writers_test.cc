// Two writers at once, and one that is killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "store/store.h"
#include "temporary_file.h"

namespace hone::store {
namespace {

const Place kHere{"a processor", 2, "xla 1", "hone 1"};

// Adds measurements, two at a time, until `most` or for ever; returns 0 where all went well.
int Add(const std::string& path, const std::string& plan, int most) {
  const auto store = Store::Open(path);
  if (!store) return 1;
  if (!(*store)->AddProgram({"p1", "module", "a.hlo", 12}, {})) return 2;
  for (int i = 0; most == 0 || i < most; ++i) {
    Measurement one;
    one.program = "p1";
    one.plan = plan;
    if (!(*store)->AddMeasurements(kHere, {one, one}, {{plan, "{}", {}}})) return 3;
  }
  return 0;
}

pid_t Fork(const std::string& path, const std::string& plan, int most) {
  const pid_t child = fork();
  if (child == 0) _exit(Add(path, plan, most));
  return child;
}

int ExitCode(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(WritersTest, TwoWritersLoseNothing) {
  const TemporaryFile file;
  const pid_t a = Fork(file.path(), "a", 100);
  const pid_t b = Fork(file.path(), "b", 100);
  EXPECT_EQ(ExitCode(a), 0);
  EXPECT_EQ(ExitCode(b), 0);
  const auto store = Store::OpenExisting(file.path());
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->Measurements(kHere, "p1")->size(), 400u);
}

TEST(WritersTest, AKilledWriterLeavesWholeTransactions) {
  const TemporaryFile file;
  for (int round = 0; round < 5; ++round) {
    const pid_t writer = Fork(file.path(), "a", 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(60 + 17 * round));
    kill(writer, SIGKILL);
    EXPECT_EQ(ExitCode(writer), -1);
    const auto store = Store::Open(file.path());
    ASSERT_TRUE(store) << store.error().message;
    const auto measurements = (*store)->Measurements(kHere, "p1");
    ASSERT_TRUE(measurements) << measurements.error().message;
    EXPECT_EQ(measurements->size() % 2, 0u) << "half of a transaction";
    Measurement one;
    one.program = "p1";
    one.plan = "after";
    EXPECT_TRUE((*store)->AddMeasurements(kHere, {one, one}, {}));
  }
}

}  // namespace
}  // namespace hone::store
