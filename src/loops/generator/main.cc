// hone-loops: makes and runs kernels for the agent that started it, in a process that they may take
// down. The only program that links MLIR.
#include <unistd.h>

#include <cstdio>

#include "loops/generator/server.h"
#include "wire/heartbeat.h"
#include "wire/helper_program.h"
#include "wire/sandbox.h"

int main(int argc, char** argv) {
  const auto options = hone::wire::HelperOptionsOf(argc, argv, "hone-loops", "hone loops --help");
  if (!options) return 2;
  if (options->sandbox) hone::wire::EnterSandbox({{}, {}, options->data_bytes});
  hone::wire::EndWithStarter();
  hone::loops::Serve(hone::wire::kSocketDescriptor);
  std::fflush(nullptr);
  _exit(0);
}
