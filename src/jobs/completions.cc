#include "jobs/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::jobs {
namespace {

std::vector<std::string> Flags(const CommandInfo& command) {
  std::vector<std::string> flags;
  for (const OptionInfo& option : command.options) {
    flags.insert(flags.end(), option.flags.begin(), option.flags.end());
  }
  return flags;
}

std::vector<std::string> Names(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  for (const CommandInfo& command : commands) names.push_back(command.name);
  return names;
}

// Calls `visit(command, names)` with the words that lead to each command: {"store", "ls"}.
template <class Visit>
void Walk(const CommandInfo& command, std::vector<std::string>& way, Visit visit) {
  visit(command, way);
  for (const CommandInfo& sub : command.commands) {
    way.push_back(sub.name);
    Walk(sub, way, visit);
    way.pop_back();
  }
}

// In single quotes, for any shell but fish's.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The words before the current one decide: `way` is the command and its action, as far as given.
constexpr const char* kBashHead = R"(# bash completion for hone: source <(hone completion bash)
_hone() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} way='' actions='' flags='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -- ]] && return
    if ((i <= 2)) && [[ ${COMP_WORDS[i]} != -* ]]; then
      case "$way ${COMP_WORDS[i]}" in
        )";
constexpr const char* kBashTail = R"(  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [[ -n $actions ]]; then
    COMPREPLY=($(compgen -W "$actions" -- "$cur"))
  fi
}
complete -o default -F _hone hone
)";

std::string Bash(const CommandInfo& hone) {
  std::vector<std::string> way;
  std::string known;
  std::string values;
  std::string words;
  Walk(hone, way, [&](const CommandInfo& command, const std::vector<std::string>& names) {
    const std::string key = fmt::format("{}", fmt::join(names, " "));
    // What was given before it, a blank, and its own name.
    if (!names.empty()) {
      known +=
          fmt::format("{}\"{}{}\"", known.empty() ? "" : " | ", names.size() == 1 ? " " : "", key);
    }
    words += fmt::format("    {}) actions={} flags={} ;;\n", Quoted(key),
                         Quoted(fmt::format("{}", fmt::join(Names(command.commands), " "))),
                         Quoted(fmt::format("{}", fmt::join(Flags(command), " "))));
    for (const OptionInfo& option : command.options) {
      if (option.flags.empty() && !option.choices.empty()) {
        words.insert(words.rfind("actions=''") + 9,
                     fmt::format("{}", fmt::join(option.choices, " ")));
      }
      for (const std::string& flag : option.flags) {
        if (option.value.empty()) continue;
        values += fmt::format("    {}) ", Quoted(key + " " + flag));
        if (!option.choices.empty()) {
          values += fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\")); ",
                                Quoted(fmt::format("{}", fmt::join(option.choices, " "))));
        }
        values += "return ;;\n";
      }
    }
  });
  return kBashHead + known +
         ") way=\"${way:+$way }${COMP_WORDS[i]}\" ;;\n      esac\n    fi\n  done\n" +
         "  case \"$way $prev\" in\n" + values + "  esac\n  case \"$way\" in\n" + words + kBashTail;
}

// In zsh's specifications a colon and brackets have a meaning.
std::string ForZsh(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string ZshAction(const OptionInfo& option) {
  if (option.choices.empty()) return "_files";
  return fmt::format("({})", fmt::join(option.choices, " "));
}

std::string ZshDescribe(const std::vector<CommandInfo>& commands) {
  std::string text = "      local -a names=(\n";
  for (const CommandInfo& command : commands) {
    text += "        " + Quoted(ForZsh(command.name) + ":" + ForZsh(command.meaning)) + "\n";
  }
  return text + "      )\n      _describe command names ;;\n";
}

std::string Zsh(const CommandInfo& hone) {
  std::string text =
      "#compdef hone\n# zsh completion for hone: hone completion zsh > a folder of "
      "$fpath/_hone\n_hone() "
      "{\n  local way=''\n  integer at=2\n  while (( at < CURRENT )) && [[ ${words[at]} != -* ]] "
      "&& (( at < "
      "4 )); do\n    way+=\"${way:+ }${words[at]}\"\n    (( ++at ))\n  done\n  case $way in\n";
  std::vector<std::string> way;
  Walk(hone, way, [&](const CommandInfo& command, const std::vector<std::string>& names) {
    const std::string key = fmt::format("{}", fmt::join(names, " "));
    // Behind a command without actions anything may follow: its files.
    const bool leaf = command.commands.empty();
    text += fmt::format("    {}{})\n", Quoted(key), leaf ? "|" + Quoted(key + " ") + "*" : "");
    if (!leaf) {
      text += ZshDescribe(command.commands);
      return;
    }
    text += fmt::format("      shift {0} words; (( CURRENT -= {0} ))\n      _arguments -s",
                        names.size());
    for (const OptionInfo& option : command.options) {
      for (const std::string& flag : option.flags) {
        std::string spec = flag + "[" + ForZsh(option.meaning) + "]";
        if (!option.value.empty()) spec += ":" + ForZsh(option.value) + ":" + ZshAction(option);
        text += " \\\n        " + Quoted(spec);
      }
      if (option.flags.empty()) {
        text += " \\\n        " + Quoted("*:" + ForZsh(option.value) + ":" + ZshAction(option));
      }
    }
    text += " ;;\n";
  });
  return text + "  esac\n}\n_hone \"$@\"\n";
}

std::string ForFish(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "'";
}

std::string Fish(const CommandInfo& hone) {
  std::string text = "# fish completion for hone: hone completion fish | source\n";
  std::vector<std::string> way;
  Walk(hone, way, [&](const CommandInfo& command, const std::vector<std::string>& names) {
    std::string when = names.empty() ? "__fish_use_subcommand" : "";
    for (const std::string& name : names) {
      when += (when.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") + name;
    }
    std::string none_yet = when;
    if (!names.empty() && !command.commands.empty()) {
      none_yet += fmt::format("; and not __fish_seen_subcommand_from {}",
                              fmt::join(Names(command.commands), " "));
    }
    for (const CommandInfo& sub : command.commands) {
      text += fmt::format("complete -c hone -f -n {} -a {} -d {}\n", ForFish(none_yet),
                          ForFish(sub.name), ForFish(sub.meaning));
    }
    for (const OptionInfo& option : command.options) {
      const std::string choices =
          option.choices.empty()
              ? ""
              : " -f -a " + ForFish(fmt::format("{}", fmt::join(option.choices, " ")));
      if (option.flags.empty() && !choices.empty()) {
        text += fmt::format("complete -c hone -n {}{}\n", ForFish(when), choices);
      }
      if (option.flags.empty()) continue;
      text += fmt::format("complete -c hone -n {}", ForFish(when));
      for (const std::string& flag : option.flags) {
        const bool is_long = flag.rfind("--", 0) == 0;
        text += fmt::format(" -{} {}", is_long ? 'l' : 's', flag.substr(is_long ? 2 : 1));
      }
      if (!option.value.empty()) text += " -r";
      text += choices + " -d " + ForFish(option.meaning) + "\n";
    }
  });
  return text;
}

}  // namespace

const std::vector<std::string>& Shells() {
  static const std::vector<std::string> shells{"bash", "zsh", "fish"};
  return shells;
}

std::string CompletionScript(const CommandInfo& hone, const std::string& shell) {
  if (shell == "bash") return Bash(hone);
  return shell == "zsh" ? Zsh(hone) : Fish(hone);
}

}  // namespace hone::jobs
