// hone-loops: makes and runs kernels for the agent that started it, in a process that they may take
// down. The only program that links MLIR.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "loops/generator/server.h"
#include "wire/heartbeat.h"
#include "wire/sandbox.h"

namespace {

// Whatever it is at, this process ends with the one that started it.
void EndWithParent(int socket) {
  const pid_t parent = getppid();
  pollfd watched{socket, POLLRDHUP, 0};
  while (poll(&watched, 1, 1000) >= 0 && getppid() == parent) {
    if ((watched.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) break;
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  using hone::wire::kSocketDescriptor;
  pollfd there{kSocketDescriptor, 0, 0};
  if (poll(&there, 1, 0) < 0 || (there.revents & POLLNVAL) != 0) {
    std::fprintf(stderr, "hone-loops is started by hone; see hone loops --help\n");
    return 2;
  }
  bool sandbox = true;
  size_t data_bytes = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--sandbox") == 0) {
      sandbox = std::strcmp(argv[i + 1], "on") == 0;
    } else if (std::strcmp(argv[i], "--memory-bytes") == 0) {
      data_bytes = hone::wire::DataBytesFor(std::strtoull(argv[i + 1], nullptr, 10));
    }
  }
  if (sandbox) hone::wire::EnterSandbox({{}, {}, data_bytes});
  std::thread(EndWithParent, kSocketDescriptor).detach();
  hone::loops::Serve(kSocketDescriptor);
  std::fflush(nullptr);
  _exit(0);
}
