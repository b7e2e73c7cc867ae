#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "cli/exit_codes.h"
#include "jobs/write_file.h"

namespace hone::cli {
namespace {

// A signal handler has no argument of ours: what it needs is here.
std::atomic<bool> stop{false};
std::atomic<bool> first_only_stops{false};
std::atomic<bool> owes_json{false};

constexpr char kJson[] =
    "{\"error\": {\"code\": \"interrupted\", \"message\": \"interrupted\"}}\n";

void OnSignal(int signal) {
  if (first_only_stops && !stop.exchange(true)) return;
  jobs::RemoveTemporary();
  // A progress line may stand on the terminal: what comes next begins on its own line.
  if (isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, "\n", 1);
  if (owes_json) (void)!write(STDOUT_FILENO, kJson, sizeof(kJson) - 1);
  _exit(signal == SIGINT ? kInterrupted : 128 + signal);
}

}  // namespace

void ExitOnInterrupt(bool json) {
  owes_json = json;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void HasAnswered() { owes_json = false; }

void HoldInterrupts() { first_only_stops = true; }

const std::atomic<bool>& Interrupted() { return stop; }

}  // namespace hone::cli
