// hone doctor: on this machine, and on machines that are made up.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "jobs/doctor/checks.h"
#include "jobs/doctor/probe.h"
#include "jobs/doctor/steadiness.h"
#include "hone_process.h"

namespace hone {
namespace {

using jobs::doctor::Finding;
using jobs::doctor::State;
using jobs::doctor::Surroundings;

class Doctor : public HoneTest {
 protected:
  // A machine whose /proc and /sys are in this test's folder.
  Surroundings Here() const { return {.root = folder(), .cache = folder(), .python = "python3"}; }
  void System(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(Path(path)).parent_path());
    Write(path, text + "\n");
  }
};

TEST_F(Doctor, TellsEveryCheckOnThisMachine) {
  const Ran ran = Hone({"doctor", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const auto json = ran.Json();
  EXPECT_EQ(json["fine"], true);
  ASSERT_EQ(json["checks"].size(), jobs::doctor::Checks().size());
  const std::set<std::string> states{"ok", "warning", "missing", "optional"};
  for (const auto& check : json["checks"]) {
    EXPECT_TRUE(states.count(check["state"])) << check;
    EXPECT_NE(check["what"], "") << check;
    // Whoever is told of a lack is told what to do.
    if (check["state"] != "ok") {
      EXPECT_NE(check["to_do"], "") << check;
    }
  }
}

TEST_F(Doctor, NamesAreDistinct) {
  std::set<std::string> names;
  for (const auto& check : jobs::doctor::Checks()) names.insert(check.name);
  EXPECT_EQ(names.size(), jobs::doctor::Checks().size());
}

TEST_F(Doctor, Sandbox) {
  const Finding whole = jobs::doctor::SandboxFinding("refused execve: no\nrefused fork: no\n");
  EXPECT_EQ(whole.state, State::kOk);
  const Finding part = jobs::doctor::SandboxFinding(
      "missing Landlock: this kernel has none\nrefused fork: no\npossible read /etc/passwd: done\n");
  EXPECT_EQ(part.state, State::kWarning);
  EXPECT_NE(part.what.find("Landlock"), std::string::npos) << part.what;
  EXPECT_NE(part.what.find("read /etc/passwd"), std::string::npos) << part.what;
  EXPECT_EQ(jobs::doctor::SandboxFinding("").state, State::kWarning);
}

TEST_F(Doctor, ClockThatFollowsTheLoad) {
  EXPECT_EQ(Governor(Here()).state, State::kOk);
  System("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
  EXPECT_EQ(Governor(Here()).state, State::kWarning);
  System("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
  EXPECT_EQ(Governor(Here()).state, State::kOk);
}

TEST_F(Doctor, LapackIsNamedWhereItIsMissing) {
  EXPECT_EQ(Lapack(Here()).state, State::kOk) << Lapack(Here()).what;
  Surroundings without = Here();
  without.lapack = {"libno_such_lapack.so.3"};
  const Finding found = Lapack(without);
  EXPECT_EQ(found.state, State::kWarning);
  EXPECT_NE(found.to_do.find("libopenblas0-pthread"), std::string::npos) << found.to_do;
}

TEST_F(Doctor, Turbo) {
  EXPECT_EQ(Turbo(Here()).state, State::kOk);
  System("sys/devices/system/cpu/intel_pstate/no_turbo", "0");
  EXPECT_EQ(Turbo(Here()).state, State::kWarning);
  System("sys/devices/system/cpu/intel_pstate/no_turbo", "1");
  EXPECT_EQ(Turbo(Here()).state, State::kOk);
}

TEST_F(Doctor, ControlGroupsOfVersion2) {
  EXPECT_FALSE(GroupCores(Here()));
  System("proc/self/cgroup", "0::/user/inner");
  System("sys/fs/cgroup/cpu.max", "max 100000");
  System("sys/fs/cgroup/user/cpu.max", "150000 100000");
  System("sys/fs/cgroup/user/inner/cpu.max", "400000 100000");
  EXPECT_EQ(GroupCores(Here()), 1.5);
  System("sys/fs/cgroup/user/inner/memory.max", "max");
  EXPECT_FALSE(GroupMemoryBytes(Here()));
  System("sys/fs/cgroup/user/memory.max", "1048576");
  EXPECT_EQ(GroupMemoryBytes(Here()), 1048576);
}

TEST_F(Doctor, ControlGroupsOfVersion1) {
  System("proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/a\n0::/");
  System("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_FALSE(GroupMemoryBytes(Here()));
  System("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2097152");
  EXPECT_EQ(GroupMemoryBytes(Here()), 2097152);
  System("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1");
  System("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_FALSE(GroupCores(Here()));
  System("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000");
  EXPECT_EQ(GroupCores(Here()), 0.5);
  EXPECT_EQ(Cores(Here()).state, State::kWarning);
}

TEST_F(Doctor, LittleMemory) {
  System("proc/meminfo",
         "MemTotal:       33554432 kB\nMemFree:   1 kB\nMemAvailable:   16777216 kB");
  EXPECT_EQ(Memory(Here()).state, State::kOk);
  System("proc/meminfo",
         "MemTotal:       33554432 kB\nMemFree:   1 kB\nMemAvailable:   1048576 kB");
  EXPECT_EQ(Memory(Here()).state, State::kWarning);
}

TEST_F(Doctor, Load) {
  System("proc/loadavg", "0.01 0.02 0.03 1/100 5");
  EXPECT_EQ(Load(Here()).state, State::kOk);
  System("proc/loadavg", "10000.00 0.02 0.03 1/100 5");
  EXPECT_EQ(Load(Here()).state, State::kWarning);
}

TEST_F(Doctor, Processor) {
  System("proc/cpuinfo", "model name\t: A Processor\nflags\t\t: fpu avx2 avx512f");
  EXPECT_EQ(Processor(Here()).what, "A Processor, with AVX-512");
  System("proc/cpuinfo", "model name\t: An Old Processor\nflags\t\t: fpu avx");
  EXPECT_EQ(Processor(Here()).state, State::kWarning);
}

TEST_F(Doctor, PythonThatIsNotThere) {
  Surroundings here = Here();
  here.python = Path("no-python");
  EXPECT_EQ(Python(here).state, State::kMissing);
  EXPECT_EQ(Gymnasium(here).state, State::kOptional);
  EXPECT_EQ(Jax(here).state, State::kOptional);
}

TEST(Steadiness, CoefficientOfVariation) {
  using jobs::doctor::CoefficientOfVariation;
  EXPECT_EQ(CoefficientOfVariation({}), 0);
  EXPECT_EQ(CoefficientOfVariation({3, 3, 3}), 0);
  EXPECT_NEAR(CoefficientOfVariation({1, 3}), std::sqrt(2.0) / 2, 1e-12);
}

TEST(Steadiness, TimesAreThoseOfTheSameWork) {
  const std::vector<double> times = jobs::doctor::RepeatedTimes(0.05);
  ASSERT_FALSE(times.empty());
  for (const double time : times) EXPECT_GT(time, 0);
}

TEST(Probe, ValueOf) {
  using jobs::doctor::ValueOf;
  EXPECT_EQ(ValueOf("ab: 1\na:\t 2\n", "a"), "2");
  EXPECT_EQ(ValueOf("cpu  1 2\ncpu0 1", "cpu"), "1 2");
  EXPECT_EQ(ValueOf("a: 1", "b"), "");
}

}  // namespace
}  // namespace hone
