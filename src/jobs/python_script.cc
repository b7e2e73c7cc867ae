#include "jobs/python_script.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/kept_memory.h"
#include "jobs/child.h"
#include "jobs/package.h"
#include "store/store.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

// XLA:CPU allocates a run's temporaries anew each time, and glibc gives large ones back to the
// system after it: every run then waits for their pages, one by one. Here they are kept for the
// next run, for which no thread may have an arena of its own, of 64 MiB at most; and they are huge
// pages (since glibc 2.35; older ones pass that over), 512 times fewer.
void KeepMemory() {
  constexpr char kName[] = "GLIBC_TUNABLES";
  const char* const given = std::getenv(kName);
  std::string tunables =
      WithTunables(given == nullptr ? "" : given, {{"glibc.malloc.hugetlb", "1"}});
  tunables = WithTunables(std::move(tunables), kKeepWhatIsFreed);
  tunables = WithTunables(std::move(tunables), {{"glibc.malloc.arena_max", "1"}});
  setenv(kName, tunables.c_str(), 1);
}

// `job` is "record" or "with", and `argument` that job's folder or store.
FileError Become(const std::string& job, const std::string& argument,
                 const std::vector<std::string>& command) {
  const StatusOr<std::string> package = PackageFolder();
  if (!package) return {"", package.error()};
  const std::string told = job + "\n" + fs::absolute(argument).string() + "\n" + *package;
  setenv("HONE_JAX", told.c_str(), 1);
  setenv("PYTHONPATH", PythonPathWith(*package + "/" + kHook).c_str(), 1);
  std::vector<std::string> words = command;
  execvp(words.front().c_str(), Pointers(words).data());
  return {command.front(),
          {ErrorCode::kInvalidInput, std::string("cannot be run: ") + std::strerror(errno)}};
}

}  // namespace

FileError BecomeRecorded(const std::string& folder, const std::vector<std::string>& command) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return {folder, {ErrorCode::kInvalidInput, "cannot be made: " + error.message()}};
  return Become("record", folder, command);
}

FileError BecomeTuned(const std::string& store, bool keep_memory,
                      const std::vector<std::string>& command) {
  if (const auto there = store::Store::OpenExisting(store); !there) return {store, there.error()};
  if (keep_memory) {
    KeepMemory();
  } else {
    setenv("HONE_KEEP_MEMORY", "0", 1);  // for hone.jax
  }
  return Become("with", store, command);
}

}  // namespace hone::jobs
