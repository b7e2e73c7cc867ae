#include "cli/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "core/nearest.h"
#include "jobs/input.h"
#include "jobs/version.h"

namespace hone::cli {
namespace {

constexpr const char* kAbout =
    "hone finds better ways to compile machine-learning programs with the real XLA compiler,\n"
    "and proves that each is right.";

struct Entry {
  CLI::App* app;
  Run run;
};

bool WantsJson(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view a) { return a == "--json"; });
}

std::vector<std::string> CommandNames(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  return names;
}

// All of an app's flags as they are typed: "--passes", "-o".
std::vector<std::string> FlagNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// "hone", "hone run", "hone dataset list".
std::string FullName(const CLI::App& app) {
  return app.get_parent() == nullptr ? "hone" : FullName(*app.get_parent()) + " " + app.get_name();
}

// The names of a command's own commands.
std::vector<std::string> ActionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* action : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(action->get_name());
  }
  return names;
}

// The command that was given, or its action where it has such.
const CLI::App& Innermost(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : Innermost(*parsed.front());
}

// What a command did not understand; a `--`, after which no word is a flag, is no such thing.
std::vector<std::string> Remaining(const CLI::App& app) {
  std::vector<std::string> rest = app.remaining();
  rest.erase(std::remove(rest.begin(), rest.end(), "--"), rest.end());
  return rest;
}

Error UnknownArgument(const CLI::App& app, const std::string& argument) {
  const std::string flag = argument.substr(0, argument.find('='));
  const std::string command = FullName(app);
  if (flag.size() > 1 && flag[0] == '-') {
    return {ErrorCode::kInvalidInput, fmt::format("there is no flag {}{}; see `{} --help`", flag,
                                                  DidYouMean(flag, FlagNames(app)), command)};
  }
  if (const auto actions = ActionNames(app); app.get_parent() != nullptr && !actions.empty()) {
    return {ErrorCode::kInvalidInput,
            fmt::format("there is no action '{}'{}; see `{} --help`", argument,
                        DidYouMean(argument, actions), command)};
  }
  return {ErrorCode::kInvalidInput,
          fmt::format("'{}' is one argument too many; see `{} --help`", argument, command)};
}

std::string Version() {
  CommandEvents events(true);
  const auto pool = jobs::StartPool({}, events);
  return fmt::format("hone {}\nXLA of {}\n", HoneVersion(),
                     pool ? (*pool)->version() : "an unknown version: " + pool.error().message);
}

// The words that come first and are no flag must be a command.
const char* FirstWord(int argc, char** argv) {
  return argc > 1 && argv[1][0] != '-' ? argv[1] : nullptr;
}

// Becomes the executable that has the command, which lies beside this one.
int Become(const Command& command, char** argv, bool json) {
  const std::string path = (jobs::ExecutableFolder() / command.executable).string();
  execv(path.c_str(), argv);
  return Fail({ErrorCode::kUnsupported,
               fmt::format("`hone {}` is part of {}, which cannot be run ({}): {}", command.name,
                           path, std::strerror(errno), command.how_to_get)},
              json);
}

// A flag of a command that had another name in earlier versions, and is taken by it with a note.
struct Renamed {
  std::string_view command;
  std::string_view before;
  std::string_view now;
};
constexpr Renamed kRenamed[] = {{"tune", "--strategy", "--search"}};

// The arguments under today's names, the last first, as CLI::App takes them.
std::vector<std::string> Arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    for (const Renamed& flag : kRenamed) {
      if (arguments.front() != flag.command) continue;
      if (argument.substr(0, argument.find('=')) != flag.before) continue;
      argument.replace(0, flag.before.size(), flag.now);
      Warn("", fmt::format("{} is called {} now", flag.before, flag.now));
    }
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

int Main(const std::vector<Command>& commands, int argc, char** argv) {
  const bool json = WantsJson(argc, argv);
  ExitOnInterrupt(json);
  CLI::App app{kAbout, "hone"};
  app.footer("`hone COMMAND --help` tells more and gives examples.");
  app.get_formatter()->column_width(34);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Subcommands", "Commands");
  app.set_help_flag("-h,--help", "print this and end");
  bool version = false;
  app.add_flag("--version", version, "print hone's version and XLA's, and end");
  app.allow_extras();
  std::vector<Entry> entries;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.meaning);
    sub->footer(fmt::format("Examples:\n{}", command.examples));
    sub->allow_extras();
    if (command.add != nullptr) entries.push_back({sub, command.add(*sub)});
  }
  if (argc == 1) return Finish(app.help(), kBadInput);
  const char* word = FirstWord(argc, argv);
  const std::vector<std::string> names = CommandNames(commands);
  if (word != nullptr && std::find(names.begin(), names.end(), word) == names.end()) {
    return Fail(
        {ErrorCode::kInvalidInput, fmt::format("there is no command '{}'{}; see `hone --help`",
                                               word, DidYouMean(word, names))},
        json);
  }
  for (const Command& command : commands) {
    if (word != nullptr && command.name == std::string_view(word) && command.add == nullptr) {
      return Become(command, argv, json);
    }
  }
  const auto chosen = [&]() -> const Entry* {
    for (const Entry& entry : entries) {
      if (entry.app->parsed()) return &entry;
    }
    return nullptr;
  };
  try {
    app.parse(Arguments(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return Finish(app.help(), kFine);  // of the command, where there is one
  } catch (const CLI::ParseError& error) {
    // A mistyped flag is the better explanation of an argument that is then missing.
    const CLI::App& place = Innermost(app);
    for (const std::string& rest : Remaining(place)) {
      if (rest.size() > 1 && rest[0] == '-') return Fail(UnknownArgument(place, rest), json);
    }
    return Fail({ErrorCode::kInvalidInput,
                 fmt::format("{}; see `{} --help`", error.what(), FullName(place))},
                json);
  }
  if (version) return Finish(Version(), kFine);
  const Entry* entry = chosen();
  for (const CLI::App* place = &Innermost(app); place != nullptr; place = place->get_parent()) {
    if (const auto rest = Remaining(*place); !rest.empty()) {
      return Fail(UnknownArgument(*place, rest.front()), json);
    }
  }
  if (entry == nullptr) return Fail({ErrorCode::kInvalidInput, "give a command"}, json);
  return entry->run();
}

}  // namespace

int RunCommandLine(const std::vector<Command>& commands, int argc, char** argv) {
  // Libraries may throw where memory or descriptors run out.
  try {
    return Main(commands, argc, argv);
  } catch (const std::exception& exception) {
    return Fail({ErrorCode::kInternal, exception.what()}, false);
  }
}

}  // namespace hone::cli
