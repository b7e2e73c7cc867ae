#include "cli/commands.h"

namespace hone::cli {

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
#define HONE_COMMAND(add, name, meaning, examples) {name, meaning, examples, add},
#define HONE_ELSEWHERE(command) command,
#include "cli/commands.def"
  };
  return commands;
}

}  // namespace hone::cli
