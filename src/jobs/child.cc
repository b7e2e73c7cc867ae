#include "jobs/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

namespace hone::jobs {
namespace {

using Clock = std::chrono::steady_clock;

// A file in memory that a child writes and we read, or the other way round.
class Captured {
 public:
  explicit Captured(const char* name) : file_(memfd_create(name, MFD_CLOEXEC)) {}
  ~Captured() {
    if (file_ >= 0) close(file_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  int file() const { return file_; }
  bool Put(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(file_, text.data(), text.size());
      if (written <= 0) return false;
      text.remove_prefix(static_cast<size_t>(written));
    }
    return lseek(file_, 0, SEEK_SET) == 0;
  }
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

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::string WithoutLineEnd(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The status that it ended with, or an errno where it cannot be known.
tl::expected<int, int> WaitFor(pid_t pid, double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  for (;;) {
    const pid_t done = waitpid(pid, &status, seconds > 0 ? WNOHANG : 0);
    if (done == pid) return status;
    if (done < 0 && errno != EINTR) return tl::unexpected(errno);
    if (seconds <= 0) continue;
    if (Clock::now() > end) kill(pid, SIGKILL);
    usleep(5000);
  }
}

}  // namespace

std::vector<std::string> EnvironmentWith(const std::vector<std::string>& added) {
  std::vector<std::string> variables = added;
  for (char** one = environ; *one != nullptr; ++one) {
    const bool replaced = std::any_of(added.begin(), added.end(), [&](const std::string& other) {
      return NameOf(other) == NameOf(*one);
    });
    if (!replaced) variables.emplace_back(*one);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

StatusOr<Finished> RunProgram(const std::vector<std::string>& words, const ChildOptions& options) {
  const Captured out("out");
  const Captured err("err");
  Captured in("in");
  if (out.file() < 0 || err.file() < 0 || in.file() < 0 || !in.Put(options.input)) {
    return MakeError(ErrorCode::kInternal, std::string("no memory file: ") + std::strerror(errno));
  }
  std::vector<std::string> arguments = words;
  std::vector<std::string> variables = EnvironmentWith(options.variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.file(), 0);
  posix_spawn_file_actions_adddup2(&actions, out.file(), 1);
  if (!options.show) posix_spawn_file_actions_adddup2(&actions, err.file(), 2);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, words.front().c_str(), &actions, nullptr,
                                  Pointers(arguments).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return MakeError(ErrorCode::kUnsupported,
                     "cannot run " + words.front() + ": " + std::strerror(failed));
  }
  const tl::expected<int, int> status = WaitFor(pid, options.seconds);
  if (!status) {
    return MakeError(ErrorCode::kInternal,
                     std::string("waitpid: ") + std::strerror(status.error()));
  }
  const int code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
  return Finished{code, out.Text(), WithoutLineEnd(err.Text())};
}

}  // namespace hone::jobs
