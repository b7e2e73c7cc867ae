#include "wire/helper_program.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "wire/heartbeat.h"
#include "wire/sandbox.h"

namespace hone::wire {
namespace {

void Watch() {
  const pid_t parent = getppid();
  pollfd watched{kSocketDescriptor, POLLRDHUP, 0};
  while (poll(&watched, 1, 1000) >= 0 && getppid() == parent) {
    if ((watched.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) break;
  }
  _exit(0);
}

}  // namespace

std::optional<HelperOptions> HelperOptionsOf(int argc, char** argv, const char* program,
                                             const char* help) {
  pollfd there{kSocketDescriptor, 0, 0};
  if (poll(&there, 1, 0) < 0 || (there.revents & POLLNVAL) != 0) {
    std::fprintf(stderr, "%s is started by hone; see %s\n", program, help);
    return std::nullopt;
  }
  HelperOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--sandbox") == 0) {
      options.sandbox = std::strcmp(argv[i + 1], "on") == 0;
    } else if (std::strcmp(argv[i], "--memory-bytes") == 0) {
      options.data_bytes = DataBytesFor(std::strtoull(argv[i + 1], nullptr, 10));
    }
  }
  return options;
}

void EndWithStarter() { std::thread(Watch).detach(); }

}  // namespace hone::wire
