// hone-worker: runs XLA for an agent on the other end of an inherited socket. Not for people.
#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compiler/server.h"
#include "wire/heartbeat.h"

namespace {

// The numbers that a bad caller could give are all in the messages; these two come before any.
hone::compiler::StatesOptions Options(int argc, char** argv) {
  hone::compiler::StatesOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const size_t bytes = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--cache-bytes") == 0) options.cache_bytes = bytes;
    if (std::strcmp(argv[i], "--headroom-bytes") == 0) options.headroom_bytes = bytes;
  }
  return options;
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
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlive the agent
  signal(SIGINT, SIG_IGN);           // Ctrl-C is the agent's to answer
  auto io = kj::setupAsyncIo();
  auto stream = io.lowLevelProvider->wrapSocketFd(hone::wire::kSocketDescriptor);
  capnp::ReaderOptions limits;
  limits.traversalLimitInWords = uint64_t{1} << 40;
  capnp::TwoPartyVatNetwork network(*stream, capnp::rpc::twoparty::Side::SERVER, limits);
  auto rpc = capnp::makeRpcServer(
      network, hone::compiler::MakeServer(Options(argc, argv),
                                          static_cast<hone::wire::Heartbeat*>(page)));
  network.onDisconnect().wait(io.waitScope);
  _exit(0);  // XLA's own tear-down takes long and frees nothing that the system would not
}
