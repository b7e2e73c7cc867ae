// The commands of `hone`, one a file: list_commands.cc lists them, main.cc runs them.
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

Run AddApply(CLI::App& app);
Run AddBench(CLI::App& app);
Run AddBlame(CLI::App& app);
Run AddCheck(CLI::App& app);
Run AddCoreset(CLI::App& app);
Run AddCostModel(CLI::App& app);
Run AddDataset(CLI::App& app);
Run AddEval(CLI::App& app);
Run AddGraph(CLI::App& app);
Run AddKernels(CLI::App& app);
Run AddSites(CLI::App& app);
Run AddLeaderboard(CLI::App& app);
Run AddLoops(CLI::App& app);
Run AddMemory(CLI::App& app);
Run AddOptimize(CLI::App& app);
Run AddPasses(CLI::App& app);
Run AddRecord(CLI::App& app);
Run AddReplay(CLI::App& app);
Run AddRewrites(CLI::App& app);
Run AddRun(CLI::App& app);
Run AddStats(CLI::App& app);
Run AddStore(CLI::App& app);
Run AddTune(CLI::App& app);
Run AddTrain(CLI::App& app);  // of hone-learn
Run AddWith(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_COMMANDS_H_
