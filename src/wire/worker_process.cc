#include "wire/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

#include "core/kept_memory.h"
#include "core/lines.h"
#include "core/resident.h"

namespace hone::wire {
namespace {

// Above every descriptor that a worker inherits, so that moving one into place overwrites no other.
constexpr int kFirstOwnDescriptor = 10;

int MoveUp(int descriptor) {
  if (descriptor < 0) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
  close(descriptor);
  return moved;
}

tl::unexpected<Error> SystemError(const std::string& program, const std::string& what) {
  return MakeError(ErrorCode::kInternal, "cannot start " +
                                             std::filesystem::path(program).filename().string() +
                                             ": " + what + ": " + std::strerror(errno));
}

// While it lives, what this thread starts has its memory where the last one had it: some passes of
// XLA's go through hash tables whose order hangs on addresses. Where the system forbids to choose
// (some containers do), nothing changes.
class FixedAddressesOfChildren {
 public:
  FixedAddressesOfChildren() : before_(personality(kAsk)) {
    if (before_ != -1) personality(static_cast<unsigned long>(before_) | ADDR_NO_RANDOMIZE);
  }
  ~FixedAddressesOfChildren() {
    if (before_ != -1) personality(static_cast<unsigned long>(before_));
  }
  FixedAddressesOfChildren(const FixedAddressesOfChildren&) = delete;
  FixedAddressesOfChildren& operator=(const FixedAddressesOfChildren&) = delete;

 private:
  static constexpr unsigned long kAsk = 0xffffffff;
  const int before_;
};

// What TensorFlow tells of itself as it starts: "I0000 00:00:… file.cc:123] …", "2026-…: I
// tensorflow/… ] …", and a warning about where that goes.
bool IsInformation(std::string_view line) {
  const bool short_form = line.size() > 1 && line[0] == 'I' && line[1] >= '0' && line[1] <= '9';
  return short_form || line.find(": I tensorflow/") != line.npos ||
         line.starts_with("WARNING: All log messages before absl::InitializeLog()");
}

}  // namespace

StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(
    const std::string& path, std::vector<std::string> arguments,
    std::vector<std::string> environment) {
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return SystemError(path, "socketpair");
  }
  worker->socket_ = MoveUp(sockets[0]);
  const int theirs = MoveUp(sockets[1]);
  worker->log_ = MoveUp(memfd_create("hone-worker-log", MFD_CLOEXEC));
  const int page = MoveUp(memfd_create("hone-worker-heartbeat", MFD_CLOEXEC));
  if (worker->log_ < 0 || page < 0 || ftruncate(page, sizeof(Heartbeat)) != 0) {
    return SystemError(path, "memfd_create");
  }
  void* memory = mmap(nullptr, sizeof(Heartbeat), PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
  if (memory == MAP_FAILED) return SystemError(path, "mmap");
  worker->heartbeat_ = new (memory) Heartbeat;

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, worker->log_, 1);
  posix_spawn_file_actions_adddup2(&actions, worker->log_, 2);
  posix_spawn_file_actions_adddup2(&actions, theirs, kSocketDescriptor);
  posix_spawn_file_actions_adddup2(&actions, page, kHeartbeatDescriptor);
  arguments.insert(arguments.begin(), path);
  std::vector<char*> argument_list;
  for (std::string& argument : arguments) argument_list.push_back(argument.data());
  argument_list.push_back(nullptr);
  // Warnings of TensorFlow's start-up are of no use to anyone; errors and last words come through.
  environment.push_back("TF_CPP_MIN_LOG_LEVEL=2");
  environment.push_back("LC_ALL=C");
  // As hone.jax keeps it.
  environment.push_back("GLIBC_TUNABLES=" + WithTunables("", kKeepWhatIsFreed));
  std::vector<char*> environment_list;
  for (std::string& variable : environment) environment_list.push_back(variable.data());
  environment_list.push_back(nullptr);
  int error = 0;
  {
    const FixedAddressesOfChildren fixed;
    error = posix_spawn(&worker->pid_, path.c_str(), &actions, nullptr, argument_list.data(),
                        environment_list.data());
  }
  posix_spawn_file_actions_destroy(&actions);
  close(theirs);
  close(page);
  if (error != 0) {
    worker->pid_ = -1;
    errno = error;
    return SystemError(path, path);
  }
  return worker;
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    Kill();
    Bury();
  }
  if (socket_ >= 0) close(socket_);
  if (log_ >= 0) close(log_);
  if (heartbeat_ != nullptr) munmap(heartbeat_, sizeof(Heartbeat));
}

int WorkerProcess::TakeSocket() { return std::exchange(socket_, -1); }

size_t WorkerProcess::ResidentBytes() const { return hone::ResidentBytes(pid_); }

void WorkerProcess::Kill() {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

WorkerProcess::End WorkerProcess::Bury() {
  // A worker whose socket broke is about to end by itself; it has a moment to say with what.
  int status = 0;
  pid_t done = 0;
  for (int i = 0; i < 20 && done == 0; ++i) {
    done = waitpid(pid_, &status, WNOHANG);
    if (done == 0 && socket_ >= 0) break;  // never connected: nothing to wait for
    if (done == 0) usleep(5000);
  }
  if (done == 0) {
    Kill();
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  End end;
  if (WIFSIGNALED(status)) {
    end.how = std::string("killed by ") + strsignal(WTERMSIG(status));
    end.from_outside = WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM;
  } else {
    end.how = "ended with status " + std::to_string(WEXITSTATUS(status));
  }
  if (const std::string words = LastWords(); !words.empty()) end.how += ": " + words;
  return end;
}

// The line of XLA's fatal message where there is one, else the last line.
std::string WorkerProcess::LastWords() const {
  constexpr off_t kMost = 1 << 16;
  const off_t size = lseek(log_, 0, SEEK_END);
  const off_t from = size > kMost ? size - kMost : 0;
  std::string text(static_cast<size_t>(size - from), '\0');
  if (pread(log_, text.data(), text.size(), from) < 0) return "";
  std::string_view rest = text;
  std::string_view last;
  while (!rest.empty()) {
    const std::string_view line = TakeLine(rest);
    if (line.empty() || IsInformation(line)) continue;
    if (line.find("Check failed") != line.npos || line.find("FATAL") != line.npos ||
        line.find("terminate called") != line.npos) {
      last = line;
      break;
    }
    last = line;
  }
  // "F0000 00:00:… file.cc:123] message": the message and where it is from.
  const size_t bracket = last.find("] ");
  if (bracket != last.npos) {
    const size_t space = last.rfind(' ', bracket);
    const std::string where(last.substr(space + 1, bracket - space - 1));
    return std::string(last.substr(bracket + 2, 400)) + " (" + where + ")";
  }
  return std::string(last.substr(0, 400));
}

std::string FindProgram(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const auto& place :
       {self.parent_path() / name, self.parent_path().parent_path() / "bin" / name,
        self.parent_path().parent_path() / "libexec/hone" / name}) {
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return self.parent_path() / name;
}

}  // namespace hone::wire
