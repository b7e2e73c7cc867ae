// What the actions of `hone memory` share.
#ifndef HONE_CLI_MEMORY_H_
#define HONE_CLI_MEMORY_H_

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "memory/machine.h"
#include "memory/network.h"
#include "memory/plan.h"

namespace hone::cli {

// A preset, or a file in their format.
StatusOr<memory::Machine> ReadMachine(const std::string& name_or_file);

struct LoadedNetwork {
  std::unique_ptr<Pool> pool;
  ProgramInfo info;
  std::string fingerprint;
  memory::Network program;  // as it is written
  memory::Network network;  // what is planned: ByParts of it
  double seconds = 0;       // of processor time that this took
};
StatusOr<LoadedNetwork> LoadNetwork(const CommonOptions& options, const std::string& file,
                                    const memory::Machine& machine);

struct Verification {
  bool ok = false;
  bool numbers = false;  // computed and compared with XLA; else followed where bytes lie
  std::string what;      // for people
  int64_t loaded_bytes = 0;
  int64_t stored_bytes = 0;
};
// Runs the plan on the simulator and holds traffic to the plan's claims; with `numbers` also
// outputs to XLA's, where every operator can be computed here.
Verification Verify(LoadedNetwork& loaded, const memory::Machine& machine, const memory::Plan& plan,
                    bool numbers, uint64_t seed, bool progress);

Run AddMemorySimulate(CLI::App& app);
Run AddMemoryMachines(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_MEMORY_H_
