#include "cli/interrupt.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "cli/exit_codes.h"

namespace hone::cli {
namespace {

// A signal handler has no argument of ours: what it needs is here.
std::atomic<bool> stop{false};
std::atomic<bool> first_only_stops{false};
std::atomic<bool> has_temporary{false};
char temporary[PATH_MAX];

void OnSignal(int signal) {
  if (first_only_stops && !stop.exchange(true)) return;
  if (has_temporary) unlink(temporary);
  // A progress line may stand on the terminal: what comes next begins on its own line.
  if (isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, "\n", 1);
  _exit(signal == SIGINT ? kInterrupted : 128 + signal);
}

}  // namespace

void ExitOnInterrupt() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

const std::atomic<bool>* StopOnInterrupt() {
  first_only_stops = true;
  return &stop;
}

RemoveOnInterrupt::RemoveOnInterrupt(const std::string& path) {
  if (path.size() >= sizeof(temporary)) return;
  std::memcpy(temporary, path.c_str(), path.size() + 1);
  has_temporary = true;
}

RemoveOnInterrupt::~RemoveOnInterrupt() { has_temporary = false; }

}  // namespace hone::cli
