// The command line as data, read off its parser, and written as a man page, Markdown or JSON.
#ifndef HONE_CLI_MANUAL_H_
#define HONE_CLI_MANUAL_H_

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/common.h"

namespace hone::cli {

struct OptionInfo {
  std::vector<std::string> flags;    // "-o", "--output"; none where it is positional
  std::string value;                 // "FILE", "FILE..."; empty where it takes none
  std::vector<std::string> choices;  // all that may be given, where that is a list
  std::string standard;              // the default, or ""
  std::string meaning;
  std::string group;  // "" for the common ones
  bool required = false;
};

struct CommandInfo {
  std::string name;
  std::string meaning;
  std::string examples;  // lines, indented by two
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> commands;
};

CommandInfo DescribeApp(const CLI::App& app);

// The whole of hone: what the executable of `app` parses, and of the executables beside it where
// they are there.
CommandInfo DescribeHone(const CLI::App& app);

Json ToJson(const CommandInfo& command);
StatusOr<CommandInfo> CommandFromJson(const std::string& text);

std::string ManPage(const CommandInfo& hone);   // troff, section 1
std::string Markdown(const CommandInfo& hone);  // a section a command

}  // namespace hone::cli

#endif  // HONE_CLI_MANUAL_H_
