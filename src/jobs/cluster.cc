#include "jobs/cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "jobs/child.h"
#include "jobs/json.h"
#include "jobs/package.h"
#include "jobs/ready_worker.h"

namespace hone::jobs {
namespace {

constexpr int kHubDescriptor = 3;        // hub.py's CONTROL
constexpr int kFirstOwnDescriptor = 10;  // above those that the hub is started with
constexpr int kConnectMilliseconds = 150'000;
constexpr int kEndMilliseconds = 10'000;  // that the hub may take to end
constexpr size_t kMostFirstWord = size_t{1} << 16;

// A python that has Ray: the one that setup/install --ray made, or else the first in PATH.
std::string PythonWithRay(const std::string& package) {
  const auto made = std::filesystem::path(package).parent_path() / ".venv-ray" / "bin" / "python";
  std::error_code error;
  return std::filesystem::exists(made, error) ? made.string() : "python3";
}

int MoveUp(int descriptor) {
  if (descriptor < 0) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
  close(descriptor);
  return moved;
}

}  // namespace

StatusOr<std::shared_ptr<Cluster>> Cluster::Connect(const ClusterOptions& options,
                                                    const WorkerOptions& workers) {
  if (options.address.empty()) {
    if (options.kind.empty() && options.worker.empty()) return nullptr;
    return MakeError(ErrorCode::kInvalidInput,
                     "--kind and --worker choose among a cluster's machines: say which with "
                     "--workers, such as ray:auto");
  }
  std::shared_ptr<Cluster> cluster(new Cluster);
  if (Status launched = cluster->Launch(options, workers); !launched) {
    return tl::unexpected(launched.error());
  }
  return cluster;
}

Status Cluster::Launch(const ClusterOptions& options, const WorkerOptions& workers) {
  const StatusOr<std::string> package = PackageFolder();
  if (!package) return tl::unexpected(package.error());
  const StatusOr<std::string> worker =
      options.worker.empty() ? ReadyWorker(workers.quiet) : options.worker;
  if (!worker) return tl::unexpected(worker.error());
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    return MakeError(ErrorCode::kInternal, std::string("socketpair: ") + std::strerror(errno));
  }
  socket_ = MoveUp(sockets[0]);
  const int theirs = MoveUp(sockets[1]);
  log_ = MoveUp(memfd_create("hone-hub-log", MFD_CLOEXEC));

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log_, 1);
  posix_spawn_file_actions_adddup2(&actions, log_, 2);
  posix_spawn_file_actions_adddup2(&actions, theirs, kHubDescriptor);
  posix_spawnattr_t attributes;  // a session of its own: Ctrl-C is this process's to answer
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::vector<std::string> words{options.python.empty() ? PythonWithRay(*package) : options.python,
                                 "-m",
                                 "hone.ray.hub",
                                 "--address",
                                 options.address,
                                 "--program",
                                 *worker,
                                 "--memory-limit",
                                 std::to_string(workers.memory_limit_bytes)};
  if (!options.kind.empty()) words.insert(words.end(), {"--device", options.kind});
  if (options.use == ClusterOptions::Use::kMeasure) words.emplace_back("--measure");
  std::vector<std::string> environment =
      EnvironmentWith({"PYTHONPATH=" + PythonPathWith(*package)});
  const int failed = posix_spawnp(&pid_, words.front().c_str(), &actions, &attributes,
                                  Pointers(words).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(theirs);
  if (failed != 0) {
    pid_ = -1;
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("cannot run {}: {}; --python says which python has Ray",
                                 words.front(), std::strerror(failed)));
  }
  return FirstWord();
}

Status Cluster::FirstWord() {
  pollfd waited{socket_, POLLIN, 0};
  const int ready = poll(&waited, 1, kConnectMilliseconds);
  std::string text(kMostFirstWord, '\0');
  const ssize_t got = ready > 0 ? recv(socket_, text.data(), text.size(), 0) : 0;
  if (got <= 0) {
    const std::string words = LastWords();
    const std::string what = ready == 0 ? fmt::format("the cluster did not answer within {} s",
                                                      kConnectMilliseconds / 1000)
                                        : "what reaches the cluster ended early";
    return MakeError(ErrorCode::kUnsupported, words.empty() ? what : what + ": " + words);
  }
  text.resize(static_cast<size_t>(got));
  const Json word = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!word.is_object()) return MakeError(ErrorCode::kInternal, "the hub said: " + text);
  if (word.contains("error")) {
    return MakeError(ErrorCode::kUnsupported, word.value("error", std::string()));
  }
  workers_ = word.value("workers", 0);
  worker_path_ = word.value("worker_path", std::string());
  cpu_ = word.value("cpu", std::string());
  cores_ = word.value("cores", 0);
  return {};
}

Cluster::~Cluster() {
  if (socket_ >= 0) close(socket_);
  for (int waited = 0; pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == 0; waited += 10) {
    if (waited > kEndMilliseconds) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      break;
    }
    usleep(10'000);
  }
  if (log_ >= 0) close(log_);
}

void Cluster::Lend(PoolOptions& options) const {
  options.workers = std::clamp(options.workers, 1, std::max(1, workers_));
  options.worker_path = worker_path_;
  options.memory_limit_bytes = 0;  // is seen to there
}

// The last line that says something.
std::string Cluster::LastWords() const {
  constexpr off_t kMost = 4096;
  const off_t size = lseek(log_, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - kMost);
  std::string text(static_cast<size_t>(size - from), '\0');
  if (pread(log_, text.data(), text.size(), from) < 0) return "";
  const size_t end = text.find_last_not_of(" \n");
  if (end == text.npos) return "";
  text.resize(end + 1);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace hone::jobs
