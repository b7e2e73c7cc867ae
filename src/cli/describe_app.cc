// From CLI11's parser to data.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "cli/manual.h"
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
void ReadType(const std::string& type, OptionInfo& info) {
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

OptionInfo DescribeOption(const CLI::Option& option) {
  OptionInfo info;
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

CommandInfo DescribeApp(const CLI::App& app) {
  CommandInfo info;
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

CommandInfo DescribeHone(const CLI::App& app) {
  CommandInfo info = DescribeApp(app);
  for (const Command& command : Commands()) {
    if (command.executable == nullptr || command.executable == Itself()) continue;
    const std::string path = (jobs::ExecutableFolder() / command.executable).string();
    const StatusOr<jobs::Finished> said = jobs::RunProgram({path, "manual", "--json"});
    if (!said || said->exit_code != 0) continue;
    const StatusOr<CommandInfo> other = CommandFromJson(said->out);
    if (!other) continue;
    for (CommandInfo& mine : info.commands) {
      for (const CommandInfo& theirs : other->commands) {
        if (mine.name == command.name && theirs.name == mine.name) mine = theirs;
      }
    }
  }
  return info;
}

Json ToJson(const CommandInfo& command) {
  Json json{{"name", command.name}, {"meaning", command.meaning}, {"examples", command.examples}};
  json["options"] = Json::array();
  for (const OptionInfo& option : command.options) {
    json["options"].push_back({{"flags", option.flags},
                               {"value", option.value},
                               {"choices", option.choices},
                               {"default", option.standard},
                               {"meaning", option.meaning},
                               {"group", option.group},
                               {"required", option.required}});
  }
  json["commands"] = Json::array();
  for (const CommandInfo& sub : command.commands) json["commands"].push_back(ToJson(sub));
  return json;
}

namespace {

CommandInfo FromJson(const Json& json) {
  CommandInfo command{json.at("name"), json.at("meaning"), json.at("examples"), {}, {}};
  for (const Json& option : json.at("options")) {
    command.options.push_back({option.at("flags"), option.at("value"), option.at("choices"),
                               option.at("default"), option.at("meaning"), option.at("group"),
                               option.at("required")});
  }
  for (const Json& sub : json.at("commands")) command.commands.push_back(FromJson(sub));
  return command;
}

}  // namespace

StatusOr<CommandInfo> CommandFromJson(const std::string& text) {
  try {
    return FromJson(Json::parse(text));
  } catch (const Json::exception& error) {
    return MakeError(ErrorCode::kInvalidInput, std::string("not a command line: ") + error.what());
  }
}

}  // namespace hone::cli
