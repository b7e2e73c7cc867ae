#include "cli/actions.h"

#include <fmt/format.h>

#include <CLI/Formatter.hpp>
#include <string>

#include "cli/common.h"

namespace hone::cli {

Actions::Actions(CLI::App& app) : app_(app) {
  // A formatter is shared with the other commands: this one says ACTION.
  auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(app.get_formatter()->get_column_width());
  formatter->label("SUBCOMMAND", "ACTION");
  app.formatter(formatter);
  app.require_subcommand(0, 1);
}

void Actions::Add(const char* name, const char* meaning, const char* examples,
                  const std::function<Run(CLI::App&)>& add) {
  CLI::App* const action = app_.add_subcommand(name, meaning);
  action->group("Actions");
  action->footer(fmt::format("Examples:\n{}", examples));
  actions_.emplace_back(action, add(*action));
}

Run Actions::Chosen(Run otherwise) const {
  return [actions = actions_, otherwise = std::move(otherwise), command = app_.get_name()] {
    std::string names;
    for (size_t i = 0; i < actions.size(); ++i) {
      const auto& [action, run] = actions[i];
      if (action->parsed()) return run();
      names += (i == 0 ? "" : i + 1 == actions.size() ? " or " : ", ") + action->get_name();
    }
    if (otherwise) return otherwise();
    return Fail({ErrorCode::kInvalidInput,
                 fmt::format("give an action: {}; see `hone {} --help`", names, command)},
                false);
  };
}

}  // namespace hone::cli
