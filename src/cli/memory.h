// Shared by the actions of `hone memory`.
#ifndef HONE_CLI_MEMORY_H_
#define HONE_CLI_MEMORY_H_

#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "jobs/plan_memory.h"
#include "memory/machine.h"

namespace hone::cli {

// A preset, or a file in their format.
StatusOr<memory::Machine> ReadMachine(const std::string& name_or_file);

// ReadInput, StartPool, jobs::LoadNetwork.
StatusOr<jobs::LoadedNetwork> LoadNetwork(const CommonOptions& options, const std::string& file,
                                          const memory::Machine& machine);

Run AddMemorySimulate(CLI::App& app);
Run AddMemoryMachines(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_MEMORY_H_
