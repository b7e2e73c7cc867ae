#include "jobs/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jobs/version.h"

namespace hone::jobs {
namespace {

// troff takes a leading point or quote for a request, and a backslash or hyphen for something else.
std::string Troff(const std::string& text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && (text[i] == '.' || text[i] == '\'')) escaped += "\\&";
    if (text[i] == '\\') {
      escaped += "\\e";
    } else if (text[i] == '-') {
      escaped += "\\-";
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

// "-o, --output OUT"
std::string Usage(const OptionInfo& option) {
  std::string text = fmt::format("{}", fmt::join(option.flags, ", "));
  if (!option.value.empty()) text += (text.empty() ? "" : " ") + option.value;
  return text;
}

std::string Synopsis(const CommandInfo& command, const std::string& full_name) {
  std::string text = full_name;
  if (!command.commands.empty()) return text + " COMMAND";
  for (const OptionInfo& option : command.options) {
    if (option.flags.empty())
      text += option.required ? " " + option.value : " [" + option.value + "]";
    if (!option.flags.empty() && option.required)
      text += " " + option.flags.back() + " " + option.value;
  }
  return text + " [OPTION]...";
}

std::string Meaning(const OptionInfo& option) {
  std::string text = option.meaning;
  if (!option.choices.empty()) text += fmt::format(": {}", fmt::join(option.choices, ", "));
  if (!option.standard.empty()) text += fmt::format(" ({})", option.standard);
  return text;
}

// A group as a paragraph of its own before its first option.
template <class Heading, class Line>
void ForOptions(const CommandInfo& command, Heading heading, Line line) {
  std::string group;
  for (const OptionInfo& option : command.options) {
    if (option.flags.size() == 2 && option.flags[1] == "--help") continue;  // every command has it
    if (option.group != group) heading(option.group);
    group = option.group;
    line(option);
  }
}

void ManCommand(const CommandInfo& command, const std::string& full_name, std::string& text) {
  text += fmt::format(".SS {}\n{}\n.PP\n.B {}\n", Troff(full_name), Troff(command.meaning),
                      Troff(Synopsis(command, full_name)));
  ForOptions(
      command, [&](const std::string& group) { text += ".PP\n" + Troff(group) + ":\n"; },
      [&](const OptionInfo& option) {
        text += fmt::format(".TP\n.B {}\n{}\n", Troff(Usage(option)), Troff(Meaning(option)));
      });
  if (!command.examples.empty()) {
    text += ".PP\nExamples:\n.PP\n.nf\n" + Troff(command.examples) + ".fi\n";
  }
  for (const CommandInfo& sub : command.commands) ManCommand(sub, full_name + " " + sub.name, text);
}

std::string Cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

void MarkdownCommand(const CommandInfo& command, const std::string& full_name, int depth,
                     std::string& text) {
  text += fmt::format("\n{} {}\n\n{}\n\n```text\n{}\n```\n", std::string(depth, '#'), full_name,
                      command.meaning, Synopsis(command, full_name));
  const auto table = [&] { text += "\n| option | does |\n|---|---|\n"; };
  if (command.options.size() > 1) table();
  ForOptions(
      command,
      [&](const std::string& group) {
        text += "\n" + group + ":\n";
        table();
      },
      [&](const OptionInfo& option) {
        text += fmt::format("| `{}` | {} |\n", Cell(Usage(option)), Cell(Meaning(option)));
      });
  if (!command.examples.empty()) text += "\nExamples:\n\n```text\n" + command.examples + "```\n";
  for (const CommandInfo& sub : command.commands) {
    MarkdownCommand(sub, full_name + " " + sub.name, depth + 1, text);
  }
}

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

StatusOr<CommandInfo> CommandFromJson(const std::string& text) {
  try {
    return FromJson(Json::parse(text));
  } catch (const Json::exception& error) {
    return MakeError(ErrorCode::kInvalidInput, std::string("not a command line: ") + error.what());
  }
}

std::string ManPage(const CommandInfo& hone, const std::vector<ExitLine>& exits) {
  std::string text = fmt::format(
      ".TH HONE 1 \"\" \"hone {}\" \"User Commands\"\n.SH NAME\nhone \\- better ways to compile "
      "machine\\-learning programs with the real XLA\n.SH SYNOPSIS\n.B hone\nCOMMAND "
      "[OPTION]...\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      Troff(HoneVersion()), Troff(hone.meaning));
  for (const CommandInfo& command : hone.commands)
    ManCommand(command, "hone " + command.name, text);
  text += ".SH EXIT STATUS\n";
  for (const ExitLine& exit : exits) {
    text += fmt::format(".TP\n.B {}\n{}\n", exit.code, Troff(exit.means));
  }
  text +=
      ".SH OPTIONS\n.TP\n.B \\-h, \\-\\-help\nof every command: its options, with their "
      "defaults, and examples\n.SH FILES\n.TP\n.I ~/.cache/hone\nXLA's libraries and kernels' "
      "machine code; $HONE_CACHE and "
      "$XDG_CACHE_HOME move "
      "it\n";
  return text;
}

std::string Markdown(const CommandInfo& hone) {
  std::string text =
      "# Commands\n\nWritten by `hone manual --markdown`. What the output of the commands means: "
      "[Command line](../cli.md).\n";
  for (const CommandInfo& command : hone.commands) {
    MarkdownCommand(command, "hone " + command.name, 2, text);
  }
  return text;
}

}  // namespace hone::jobs
