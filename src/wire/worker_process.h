// One process that does hone's dangerous work, seen from outside: start, watch, kill, bury.
#ifndef HONE_WIRE_WORKER_PROCESS_H_
#define HONE_WIRE_WORKER_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "wire/heartbeat.h"

namespace hone::wire {

class WorkerProcess {
 public:
  // Starts `path` with a socket, a heartbeat page and its output in memory, and a clean environment
  // (XLA reads flags from the environment: none of the user's reach it) but for what is in
  // `environment`, each "NAME=VALUE".
  static StatusOr<std::unique_ptr<WorkerProcess>> Start(const std::string& path,
                                                        std::vector<std::string> arguments,
                                                        std::vector<std::string> environment = {});
  ~WorkerProcess();  // kills

  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // The agent's end of the socket. The caller closes it.
  int TakeSocket();
  pid_t pid() const { return pid_; }
  Heartbeat& heartbeat() { return *heartbeat_; }

  // Bytes in memory now; 0 once it is gone.
  size_t ResidentBytes() const;

  void Kill();
  // How it ended: the signal or exit status, and XLA's last words.
  struct End {
    std::string how;
    bool from_outside = false;  // by SIGKILL or SIGTERM, which XLA does not send itself
  };
  // Kills it if need be and waits for it.
  End Bury();

 private:
  WorkerProcess() = default;
  std::string LastWords() const;

  pid_t pid_ = -1;
  int socket_ = -1;
  int log_ = -1;
  Heartbeat* heartbeat_ = nullptr;
};

// Where a program of hone's is: beside this executable, or in ../bin or ../libexec/hone from it.
std::string FindProgram(const std::string& name);
// `target`: PoolOptions::target.
inline std::string FindWorker(const std::string& target = "cpu") {
  return FindProgram(target == "cpu" ? "hone-worker" : "hone-worker-gpu");
}

}  // namespace hone::wire

#endif  // HONE_WIRE_WORKER_PROCESS_H_
