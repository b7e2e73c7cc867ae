// hone-device: runs a PJRT plugin for the agent that started it, in a process that it may take
// down.
#include <unistd.h>

#include <cstdio>

#include "device/plugin/server.h"
#include "wire/heartbeat.h"

int main(int argc, char** argv) {
  const auto options = hone::wire::HelperOptionsOf(argc, argv, "hone-device", "hone device --help");
  if (!options) return 2;
  hone::wire::EndWithStarter();
  hone::device::Serve(hone::wire::kSocketDescriptor, *options);
  std::fflush(nullptr);
  _exit(0);  // plugins do not survive their own unloading
}
