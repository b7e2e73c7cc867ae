// A locked-up process, in a child of this one; and a worker as the pool starts it.
#include "wire/sandbox.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/programs.h"
#include "wire/sandbox_probe.h"
#include "wire/worker_process.h"

namespace hone {
namespace {

using testing::MakePool;
using testing::MustLoad;
using testing::ReadData;

// Whether this system has all parts; where it has not, what is missing is said and nothing to be tested.
bool IsWhole() { return wire::MissingFromSandbox().empty(); }

// What `job` says, run in a process of its own; empty where it is content.
std::string InAChild(const std::function<std::string()>& job) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string said = job();
    const ssize_t written = write(ends[1], said.data(), said.size());
    _exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    said.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) said += " (it ended badly)";
  return said;
}

std::string Possible() {
  std::string possible;
  for (const wire::Attempt& attempt : wire::TryToGetOut()) {
    if (!attempt.refused) possible += attempt.what + ": " + attempt.answer + "\n";
  }
  return possible;
}

TEST(Sandbox, EveryWayOutIsRefused) {
  if (!IsWhole()) GTEST_SKIP() << wire::MissingFromSandbox()[0];
  EXPECT_EQ(InAChild([] {
              wire::EnterSandbox({{}, {}, size_t{8} << 30});
              return Possible();
            }),
            "");
}

// The probe would be worth nothing if it were content with a process that may do all.
TEST(Sandbox, TheProbeGetsOutWhereNothingIsLockedUp) {
  const std::string possible = InAChild(Possible);
  for (const char* what : {"socket of the internet", "execve", "fork", "open a new file", "unlink",
                           "read /etc/passwd on a thread", "a program in memory"}) {
    EXPECT_NE(possible.find(what), std::string::npos) << what;
  }
}

TEST(Sandbox, WhatIsNeededStays) {
  if (!IsWhole()) GTEST_SKIP() << wire::MissingFromSandbox()[0];
  const std::string rules = ::testing::TempDir() + "/hone_sandbox_rules";
  std::ofstream(rules) << "rules\n";
  EXPECT_EQ(InAChild([&rules] {
              const wire::Sandbox sandbox = wire::EnterSandbox({{rules}, {}, 0});
              std::string wrong;
              if (!sandbox.no_new_privileges || !sandbox.calls || sandbox.landlock == 0) {
                wrong += "not whole\n";
              }
              if (!std::ifstream(rules).good()) wrong += "what was to be readable is not\n";
              if (!std::ifstream("/proc/self/statm").good()) wrong += "no /proc/self\n";
              int done = 0;
              std::thread([&done] { done = 1; }).join();
              if (done != 1) wrong += "no threads\n";
              void* const code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              if (code == MAP_FAILED || mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0) {
                wrong += "no executable memory\n";
              }
              return wrong;
            }),
            "");
  std::filesystem::remove(rules);
}

TEST(Sandbox, AFileThatIsOpenGrowsToALimitOnly) {
  if (!IsWhole()) GTEST_SKIP() << wire::MissingFromSandbox()[0];
  EXPECT_EQ(InAChild([] {
              const int file = memfd_create("log", 0);
              wire::EnterSandbox({});
              lseek(file, static_cast<off_t>(wire::kMostFileBytes), SEEK_SET);
              return std::string(write(file, "x", 1) < 0 && errno == EFBIG ? "" : "it grew");
            }),
            "");
}

// As `hone doctor` asks it.
TEST(Sandbox, AWorkerCannotGetOut) {
  if (!IsWhole()) GTEST_SKIP() << wire::MissingFromSandbox()[0];
  const std::string command = wire::FindWorker() + " --check-sandbox";
  FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  int refused = 0;
  char line[256];
  while (fgets(line, sizeof(line), pipe) != nullptr) {
    const std::string said = line;
    EXPECT_EQ(said.rfind("refused ", 0), 0u) << said;
    ++refused;
  }
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_GT(refused, 20);
}

// Of each thread: "Seccomp", "NoNewPrivs".
std::vector<std::string> OfThreads(int pid, const std::string& key) {
  std::vector<std::string> values;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream file(task.path() / "status");
    for (std::string line; std::getline(file, line);) {
      if (line.rfind(key + ":", 0) == 0) values.push_back(line.substr(key.size() + 2));
    }
  }
  return values;
}

TEST(Sandbox, WorkersOfAPoolAreLockedUpAndCompileAndRun) {
  if (!IsWhole()) GTEST_SKIP() << wire::MissingFromSandbox()[0];
  for (const bool locked : {true, false}) {
    PoolOptions options;
    options.sandbox = locked;
    const auto pool = MakePool(options);
    const ProgramInfo program = MustLoad(*pool, ReadData("kmeans/jax010_kmeans_while.hlo"));
    CompareOptions quick;
    quick.inputs = 1;
    const StatusOr<ComparisonReport> same = pool->Compare({program.id, {}}, {program.id, {}}, quick);
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_EQ(same->verdict, Verdict::kEqual);
    for (const int pid : pool->pids()) {
      const auto filters = OfThreads(pid, "Seccomp");
      EXPECT_GT(filters.size(), 1u);
      for (const std::string& mode : filters) EXPECT_EQ(mode, locked ? "2" : "0");
      for (const std::string& value : OfThreads(pid, "NoNewPrivs")) {
        EXPECT_EQ(value, locked ? "1" : "0");
      }
    }
    EXPECT_TRUE(pool->deaths().empty());
  }
}

}  // namespace
}  // namespace hone
