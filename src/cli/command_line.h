// From argc and argv to a command and its exit code.
#ifndef HONE_CLI_COMMAND_LINE_H_
#define HONE_CLI_COMMAND_LINE_H_

#include <vector>

#include "cli/commands.h"

namespace hone::cli {

// Parses the arguments and runs the command among `commands` that they name. Nothing is thrown out
// of it.
int RunCommandLine(const std::vector<Command>& commands, int argc, char** argv);

}  // namespace hone::cli

#endif  // HONE_CLI_COMMAND_LINE_H_
