// From CLI11's parser to data.
#include "cli/describe_app.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "jobs/child.h"
#include "jobs/input.h"

namespace hone::cli {
namespace {

constexpr const char* kExamples = "Examples:\n";

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

// CLI11 says "TEXT:{a,b}" of a list, "INT:INT in [1 - 10]" of a range.
void ReadType(const std::string& type, jobs::OptionInfo& info) {
  info.value = type.substr(0, type.find(':'));
  const size_t from = type.find('{');
  const size_t to = type.find('}');
  if (from != type.npos && to != type.npos && from < to) {
    info.choices = Split(type.substr(from + 1, to - from - 1), ',');
  }
}

std::string Itself() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).filename().string();
}

jobs::OptionInfo DescribeOption(const CLI::Option& option) {
  jobs::OptionInfo info;
  for (const std::string& name : option.get_snames()) info.flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.flags.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) ReadType(option.get_type_name(), info);
  if (info.flags.empty()) info.value = option.get_name();
  if (takes_value && info.value.empty()) info.value = "VALUE";
  if (info.flags.empty() && option.get_items_expected_max() > 1) info.value += "...";
  info.standard = option.get_default_str();
  info.meaning = option.get_description();
  info.group = option.get_group() == "Options" ? "" : option.get_group();
  info.required = option.get_required();
  return info;
}

}  // namespace

jobs::CommandInfo DescribeApp(const CLI::App& app) {
  jobs::CommandInfo info;
  info.name = app.get_name();
  info.meaning = app.get_description();
  const std::string footer = app.get_footer();
  if (footer.rfind(kExamples, 0) == 0) {
    info.examples = footer.substr(std::string_view(kExamples).size());
  }
  for (const CLI::Option* option : app.get_options())
    info.options.push_back(DescribeOption(*option));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    info.commands.push_back(DescribeApp(*sub));
  }
  return info;
}

jobs::CommandInfo DescribeHone(const CLI::App& app) {
  jobs::CommandInfo info = DescribeApp(app);
  for (const Command& command : Commands()) {
    if (command.executable == nullptr || command.executable == Itself()) continue;
    const std::string path = (jobs::ExecutableFolder() / command.executable).string();
    const StatusOr<jobs::Finished> said = jobs::RunProgram({path, "manual", "--json"});
    if (!said || said->exit_code != 0) continue;
    const StatusOr<jobs::CommandInfo> other = jobs::CommandFromJson(said->out);
    if (!other) continue;
    for (jobs::CommandInfo& mine : info.commands) {
      for (const jobs::CommandInfo& theirs : other->commands) {
        if (mine.name == command.name && theirs.name == mine.name) mine = theirs;
      }
    }
  }
  return info;
}

}  // namespace hone::cli
