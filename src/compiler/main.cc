// hone-worker: runs XLA for an agent on the other end of an inherited socket. Not for people.
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "compiler/custom_calls/custom_calls.h"
#include "compiler/custom_calls/lapack_library.h"
#include "compiler/kernels/kernels.h"
#include "compiler/run/executables.h"
#include "compiler/run/optimised.h"
#include "compiler/server.h"
#include "compiler/target.h"
#include "wire/heartbeat.h"
#include "wire/sandbox.h"
#include "wire/sandbox_probe.h"

namespace {

// Executables have constants and what calls the kernels beside code, and are kept in as many times
// the memory.
constexpr size_t kExecutableTimes = 2;

struct Options {
  hone::compiler::StatesOptions states;
  hone::wire::SandboxOptions sandbox;
  size_t kernel_bytes = 0;
  std::string kernel_folder;  // or none
  bool locked_up = true;
  std::string target = "cpu";
};

// What a bad caller could give is all in the messages; these come before any.
Options Read(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    const size_t bytes = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--rules") options.states.rule_files.push_back(value);
    if (name == "--cache-bytes") options.states.cache_bytes = bytes;
    if (name == "--kernel-bytes") options.kernel_bytes = bytes;
    if (name == "--kernel-folder") options.kernel_folder = value;
    if (name == "--headroom-bytes") options.states.headroom_bytes = bytes;
    if (name == "--memory-bytes") options.sandbox.data_bytes = hone::wire::DataBytesFor(bytes);
    if (name == "--sandbox") options.locked_up = value != "off";
    if (name == "--stand-in-constants") options.states.stand_in_constants = true;
    if (name == "--target") options.target = value;
  }
  options.sandbox.readable = options.states.rule_files;
  return options;
}

// For `hone doctor` and the tests: locked up as ever, it tries to get out and tells what came of it.
int CheckSandbox() {
  const hone::wire::Sandbox sandbox =
      hone::wire::EnterSandbox({{}, {}, hone::wire::DataBytesFor(size_t{1} << 30)});
  for (const std::string& missing : sandbox.missing) std::printf("missing %s\n", missing.c_str());
  for (const hone::wire::Attempt& attempt : hone::wire::TryToGetOut()) {
    std::printf("%s %s: %s\n", attempt.refused ? "refused" : "possible", attempt.what.c_str(),
                attempt.answer.c_str());
  }
  std::fflush(stdout);
  return 0;
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
  if (argc == 2 && std::strcmp(argv[1], "--check-sandbox") == 0) _exit(CheckSandbox());
  void* page = mmap(nullptr, sizeof(hone::wire::Heartbeat), PROT_READ | PROT_WRITE, MAP_SHARED,
                    hone::wire::kHeartbeatDescriptor, 0);
  if (page == MAP_FAILED) {
    std::fputs(
        "hone-worker runs XLA for hone and is started by it; to optimise a program, run:\n"
        "  hone optimize FILE\n",
        stderr);
    return 2;
  }
  hone::compiler::LoadLapack();  // while there is one thread
  hone::compiler::RegisterCustomCalls();
  signal(SIGINT, SIG_IGN);  // Ctrl-C is the agent's to answer
  Options options = Read(argc, argv);
  // A description of the user's own is a file.
  const hone::Status target = hone::compiler::SetTarget(options.target);
  for (std::string& file : hone::compiler::TheTarget().Readable()) {
    options.sandbox.readable.push_back(std::move(file));
  }
  signal(SIGXFSZ, SIG_IGN);  // a write that would make the shared files too large fails
  if (!options.kernel_folder.empty()) {
    hone::compiler::ShareKernels(options.kernel_folder);
    hone::compiler::ShareOptimised(options.kernel_folder + "/passes");
  }
  // Before there is a thread, which Landlock would not bind, and before the first byte of a program.
  if (options.locked_up) hone::wire::EnterSandbox(options.sandbox);
  hone::compiler::SetKernelMemory(options.kernel_bytes);
  hone::compiler::SetExecutableMemory(kExecutableTimes * options.kernel_bytes);
  std::thread(EndWithAgent, getppid()).detach();
  hone::compiler::Serve(hone::wire::kSocketDescriptor, options.states,
                        static_cast<hone::wire::Heartbeat*>(page), target);
  _exit(0);  // XLA's own tear-down takes long and frees nothing that the system would not
}
