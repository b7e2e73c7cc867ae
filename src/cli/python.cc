#include "cli/python.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <system_error>

#include "cli/common.h"
#include "cli/input.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kHook[] = "hone/jax/site";

// A file in memory that a child writes and we read.
class Captured {
 public:
  explicit Captured(const char* name) : file_(memfd_create(name, MFD_CLOEXEC)) {}
  ~Captured() {
    if (file_ >= 0) close(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  int file() const { return file_; }
  std::string Text() const {
    std::string text;
    std::array<char, 65536> some;
    ssize_t got = 0;
    for (off_t at = 0; (got = pread(file_, some.data(), some.size(), at)) > 0; at += got) {
      text.append(some.data(), static_cast<size_t>(got));
    }
    return text;
  }

 private:
  const int file_;
};

std::string PathWith(const std::string& first) {
  const char* const path = std::getenv("PYTHONPATH");
  return path == nullptr || *path == '\0' ? first : first + ":" + path;
}

std::vector<std::string> EnvironmentWith(const std::string& name, const std::string& value) {
  std::vector<std::string> variables{name + "=" + value};
  for (char** one = environ; *one != nullptr; ++one) {
    if (std::string_view(*one).substr(0, name.size() + 1) != name + "=")
      variables.emplace_back(*one);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string WithoutLineEnd(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

StatusOr<std::string> PackageFolder() {
  const fs::path here = ExecutableFolder();
  std::error_code error;
  for (const fs::path& folder :
       {here.parent_path().parent_path() / "python", here.parent_path().parent_path()}) {
    if (fs::exists(folder / kHook / "sitecustomize.py", error)) return folder.string();
  }
  return MakeError(ErrorCode::kUnsupported, "hone's Python package is not beside " + here.string() +
                                                ": reinstall hone, or run it from its source tree");
}

StatusOr<Finished> RunModule(const std::string& python, const std::string& module,
                             const std::vector<std::string>& arguments, bool show) {
  const StatusOr<std::string> package = PackageFolder();
  if (!package) return tl::unexpected(package.error());
  const Captured out("out");
  const Captured err("err");
  if (out.file() < 0 || err.file() < 0) {
    return MakeError(ErrorCode::kInternal, std::string("no memory file: ") + std::strerror(errno));
  }
  std::vector<std::string> words{python, "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = EnvironmentWith("PYTHONPATH", PathWith(*package));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.file(), 1);
  if (!show) posix_spawn_file_actions_adddup2(&actions, err.file(), 2);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, python.c_str(), &actions, nullptr, Pointers(words).data(),
                                  Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return MakeError(ErrorCode::kUnsupported,
                     "cannot run " + python + ": " + std::strerror(failed));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return MakeError(ErrorCode::kInternal, std::string("waitpid: ") + std::strerror(errno));
    }
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return Finished{code, out.Text(), WithoutLineEnd(err.Text())};
}

bool NeedsLowering(const std::string& given) {
  static const std::regex function(R"([^\n]+\.py:[A-Za-z_][A-Za-z0-9_.]*(\([^\n]*\))?)");
  return given.ends_with(".mlir") || std::regex_match(given, function);
}

StatusOr<std::string> Lower(const std::string& given, size_t most_bytes) {
  std::string name = (fs::temp_directory_path() / "hone-lowered-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return MakeError(ErrorCode::kInvalidInput, name + ": " + std::strerror(errno));
  }
  struct Remover {
    const std::string& folder;
    ~Remover() {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  } remover{name};
  const std::string lowered = name + "/program.pb";
  const StatusOr<Finished> done =
      RunModule("python3", "hone.lower", {given, "-o", lowered}, /*show=*/false);
  if (!done) return tl::unexpected(done.error());
  if (done->exit_code != 0) {
    const std::string said =
        done->err.empty() ? "python3 ended with " + std::to_string(done->exit_code) : done->err;
    return MakeError(ErrorCode::kInvalidInput,
                     said + "\nit was lowered by the python3 that is first in PATH");
  }
  return ReadInput(lowered, most_bytes);
}

int BecomeScript(const std::string& job, const std::string& argument,
                 const std::vector<std::string>& command) {
  const StatusOr<std::string> package = PackageFolder();
  if (!package) return Fail(package.error(), false);
  const std::string told = job + "\n" + fs::absolute(argument).string() + "\n" + *package;
  setenv("HONE_JAX", told.c_str(), 1);
  setenv("PYTHONPATH", PathWith(*package + "/" + kHook).c_str(), 1);
  std::vector<std::string> words = command;
  execvp(words.front().c_str(), Pointers(words).data());
  return Fail({ErrorCode::kInvalidInput, std::string("cannot be run: ") + std::strerror(errno)},
              command.front(), false);
}

}  // namespace hone::cli
