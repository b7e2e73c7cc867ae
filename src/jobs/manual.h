// The command line as data, and written as a man page, Markdown or JSON: `hone manual`.
#ifndef HONE_JOBS_MANUAL_H_
#define HONE_JOBS_MANUAL_H_

#include <string>
#include <vector>

#include "core/result.h"
#include "jobs/json.h"

namespace hone::jobs {

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

struct ExitLine {
  int code = 0;
  const char* means = "";
};

Json ToJson(const CommandInfo& command);
StatusOr<CommandInfo> CommandFromJson(const std::string& text);

// In troff, section 1.
std::string ManPage(const CommandInfo& hone, const std::vector<ExitLine>& exits);
// A section a command.
std::string Markdown(const CommandInfo& hone);

}  // namespace hone::jobs

#endif  // HONE_JOBS_MANUAL_H_
