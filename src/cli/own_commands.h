// The commands that are about hone itself, not about programs.
#ifndef HONE_CLI_OWN_COMMANDS_H_
#define HONE_CLI_OWN_COMMANDS_H_

#include <CLI/App.hpp>

#include "cli/commands.h"

namespace hone::cli {

Run AddCompletion(CLI::App& app);
Run AddDoctor(CLI::App& app);
Run AddManual(CLI::App& app);
Run AddSetup(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_OWN_COMMANDS_H_
