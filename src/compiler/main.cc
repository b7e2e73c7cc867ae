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

// The numbers that a bad caller could give are all in the messages, so there is one flag only.
size_t CacheBytes(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--cache-bytes") == 0) {
    return std::strtoull(argv[2], nullptr, 10);
  }
  return size_t{1} << 30;
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
      network, hone::compiler::MakeServer(CacheBytes(argc, argv),
                                          static_cast<hone::wire::Heartbeat*>(page)));
  network.onDisconnect().wait(io.waitScope);
  _exit(0);  // XLA's own tear-down takes long and frees nothing that the system would not
}
