#include "cli/python.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/common.h"
#include "jobs/child.h"
#include "jobs/package.h"

namespace hone::cli {

int BecomeScript(const std::string& job, const std::string& argument,
                 const std::vector<std::string>& command) {
  const StatusOr<std::string> package = jobs::PackageFolder();
  if (!package) return Fail(package.error(), false);
  const std::string told =
      job + "\n" + std::filesystem::absolute(argument).string() + "\n" + *package;
  setenv("HONE_JAX", told.c_str(), 1);
  setenv("PYTHONPATH", jobs::PythonPathWith(*package + "/" + jobs::kHook).c_str(), 1);
  std::vector<std::string> words = command;
  execvp(words.front().c_str(), jobs::Pointers(words).data());
  return Fail({ErrorCode::kInvalidInput, std::string("cannot be run: ") + std::strerror(errno)},
              command.front(), false);
}

}  // namespace hone::cli
