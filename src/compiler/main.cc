// hone-worker: runs XLA for an agent on the other end of an inherited socket. Not for people.
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "compiler/server.h"
#include "wire/heartbeat.h"

namespace {

// The numbers that a bad caller could give are all in the messages; these two come before any.
hone::compiler::StatesOptions Options(int argc, char** argv) {
  hone::compiler::StatesOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rules") == 0) options.rule_files.push_back(argv[i + 1]);
    const size_t bytes = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--cache-bytes") == 0) options.cache_bytes = bytes;
    if (std::strcmp(argv[i], "--headroom-bytes") == 0) options.headroom_bytes = bytes;
  }
  return options;
}

// A pass may run for ever: the worker ends when the agent does, whatever runs. A child that the agent
// forked off may hold the socket open, so the parent is looked at too.
void EndWithAgent(pid_t agent) {
  for (;;) {
    pollfd watched{hone::wire::kSocketDescriptor, POLLRDHUP, 0};
    if (poll(&watched, 1, 1000) > 0 || getppid() != agent) _exit(0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  void* page = mmap(nullptr, sizeof(hone::wire::Heartbeat), PROT_READ | PROT_WRITE, MAP_SHARED,
                    hone::wire::kHeartbeatDescriptor, 0);
  if (page == MAP_FAILED) {
    std::fputs(
        "hone-worker runs XLA for hone and is started by it; to optimise a program, run:\n"
        "  hone optimize FILE\n",
        stderr);
    return 2;
  }
  signal(SIGINT, SIG_IGN);  // Ctrl-C is the agent's to answer
  std::thread(EndWithAgent, getppid()).detach();
  hone::compiler::Serve(hone::wire::kSocketDescriptor, Options(argc, argv),
                        static_cast<hone::wire::Heartbeat*>(page));
  _exit(0);  // XLA's own tear-down takes long and frees nothing that the system would not
}
