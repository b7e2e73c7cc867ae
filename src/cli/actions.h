// A command's own commands, as `hone dataset list` is one of `hone dataset`.
#ifndef HONE_CLI_ACTIONS_H_
#define HONE_CLI_ACTIONS_H_

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cli/commands.h"

namespace hone::cli {

class Actions {
 public:
  // Help speaks of ACTIONs from here on.
  explicit Actions(CLI::App& app);

  // `add` adds the action's options, as a command's does; `examples` are a line each.
  void Add(const char* name, const char* meaning, const char* examples,
           const std::function<Run(CLI::App&)>& add);

  // Runs the one that was given. Without one `otherwise`, or else an error that names them all.
  Run Chosen(Run otherwise = nullptr) const;

 private:
  CLI::App& app_;
  std::vector<std::pair<CLI::App*, Run>> actions_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_ACTIONS_H_
