#include "jobs/cache_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace hone::jobs {

namespace fs = std::filesystem;

std::string CacheFolder() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string chosen = variable("HONE_CACHE"); !chosen.empty()) {
    return fs::absolute(chosen).lexically_normal().string();
  }
  if (const std::string base = variable("XDG_CACHE_HOME"); !base.empty()) {
    return (fs::absolute(base) / "hone").lexically_normal().string();
  }
  std::string home = variable("HOME");
  if (home.empty()) {
    const passwd* const user = getpwuid(getuid());
    home = user == nullptr ? "/" : user->pw_dir;
  }
  return (fs::path(home) / ".cache/hone").string();
}

std::string KernelFolder() { return (fs::path(CacheFolder()) / "kernels").string(); }

}  // namespace hone::jobs
