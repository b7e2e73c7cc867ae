// The commands of `hone`, one a file: commands.def lists them, main.cc runs them.
#ifndef HONE_CLI_COMMANDS_H_
#define HONE_CLI_COMMANDS_H_

#include <CLI/App.hpp>
#include <functional>
#include <vector>

namespace hone::cli {

// Runs a command whose arguments have been parsed; returns the exit code (cli/exit_codes.h).
using Run = std::function<int()>;

struct Command {
  const char* name;
  const char* meaning;   // one line
  const char* examples;  // shown by `hone NAME --help`, a line each
  // Adds the command's options to its parser. They live as long as the Run that is returned.
  Run (*add)(CLI::App& app);
  // Where `add` is null: the executable beside this one that has the command, and how to get it.
  const char* executable = nullptr;
  const char* how_to_get = nullptr;
};

// In the order of `hone --help`.
const std::vector<Command>& Commands();

// As both executables list it.
inline constexpr Command kTrain = {
    "train",      "learn a policy by acting on programs: ppo, dqn, a2c, trpo",     "", nullptr,
    "hone-learn", "it needs libtorch (on Debian: libtorch-dev) when hone is built"};

#define HONE_COMMAND(add, ...) Run add(CLI::App& app);
#include "cli/commands.def"

Run AddTrain(CLI::App& app);  // of hone-learn

}  // namespace hone::cli

#endif  // HONE_CLI_COMMANDS_H_
