// hone-device: runs a PJRT plugin for the agent that started it, in a process that it may take
// down.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "device/plugin/server.h"
#include "wire/heartbeat.h"
#include "wire/sandbox.h"

namespace {

// Whatever the plugin is at, this process ends with the one that started it.
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
    std::fprintf(stderr, "hone-device is started by hone; see hone device --help\n");
    return 2;
  }
  std::thread(EndWithParent, kSocketDescriptor).detach();
  hone::device::ServerOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--sandbox") == 0) {
      options.sandbox = std::strcmp(argv[i + 1], "on") == 0;
    } else if (std::strcmp(argv[i], "--memory-bytes") == 0) {
      options.data_bytes = hone::wire::DataBytesFor(std::strtoull(argv[i + 1], nullptr, 10));
    }
  }
  hone::device::Serve(kSocketDescriptor, options);
  std::fflush(nullptr);
  _exit(0);  // plugins do not survive their own unloading
}
