#include "jobs/python_script.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "jobs/child.h"
#include "jobs/package.h"
#include "store/store.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

constexpr char kTunables[] = "GLIBC_TUNABLES";
constexpr char kHugePages[] = "glibc.malloc.hugetlb";  // since glibc 2.35; older ones pass it over

// XLA:CPU allocates a run's temporaries anew each time, and glibc gives large ones back to the
// system after it: every run then waits for their pages, one by one. Of huge ones there are 512
// times fewer.
void AskForHugePages() {
  const char* const given = std::getenv(kTunables);
  std::string tunables = given == nullptr ? "" : given;
  if (tunables.find(kHugePages) != tunables.npos) return;  // the user's word stands
  if (!tunables.empty()) tunables += ':';
  setenv(kTunables, (tunables + kHugePages + "=1").c_str(), 1);
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

FileError BecomeTuned(const std::string& store, bool huge_pages,
                      const std::vector<std::string>& command) {
  if (const auto there = store::Store::OpenExisting(store); !there) return {store, there.error()};
  if (huge_pages) AskForHugePages();
  return Become("with", store, command);
}

}  // namespace hone::jobs
