#include "blame/program_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/lines.h"

namespace hone::blame {

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

namespace {

tl::unexpected<Error> Unreadable(std::string_view line) {
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("cannot take apart '{}'", std::string(line.substr(0, 120))));
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

// The end of the bracket that opens at `begin`, behind it; npos where it does not close. Quoted
// text is passed over.
size_t EndOfBracket(std::string_view text, size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if (c == ')' || c == '}' || c == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return std::string_view::npos;
}

// Every name with "%" before it, outside of quotes.
std::vector<std::string> NamesIn(std::string_view text) {
  std::vector<std::string> names;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted) {
      ++i;
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    if (quoted || text[i] != '%') continue;
    size_t end = i + 1;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    names.emplace_back(text.substr(i + 1, end - i - 1));
    i = end - 1;
  }
  return names;
}

// Of "KEY=VALUE", the value, without quotes; nothing where there is no KEY.
std::optional<std::string> ValueOf(std::string_view text, std::string_view key) {
  const std::string wanted = fmt::format("{}=", key);
  size_t at = text.find(wanted);
  while (at != std::string_view::npos && at > 0 && IsNameCharacter(text[at - 1])) {
    at = text.find(wanted, at + 1);
  }
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + wanted.size());
  if (!text.empty() && text.front() == '"') {
    const size_t end = text.find('"', 1);
    return std::string(text.substr(1, end == std::string_view::npos ? end : end - 1));
  }
  size_t end = 0;
  while (end < text.size() && IsNameCharacter(text[end])) ++end;
  return std::string(text.substr(0, end));
}

// Takes ", NAME={…}" out of attributes; what was in the brackets.
std::string TakeOut(std::string& attributes, std::string_view name) {
  const std::string start = fmt::format(", {}={{", name);
  const size_t at = attributes.find(start);
  if (at == std::string::npos) return {};
  const size_t bracket = at + start.size() - 1;
  const size_t end = EndOfBracket(attributes, bracket);
  if (end == std::string::npos) return {};
  std::string inside = attributes.substr(bracket + 1, end - bracket - 2);
  attributes.erase(at, end - at);
  return inside;
}

// "NUMBER TEXT" lines of the tables of sources above a module, by number.
using Table = std::map<std::string, std::string>;

struct Sources {
  Table files, locations, frames;

  // "FILE:LINE" of a stack frame; "" where it is not known.
  std::string Of(const std::string& frame) const {
    const auto found = frames.find(frame);
    if (found == frames.end()) return {};
    const auto location = locations.find(ValueOf(found->second, "file_location_id").value_or(""));
    if (location == locations.end()) return {};
    const auto file = files.find(ValueOf(location->second, "file_name_id").value_or(""));
    if (file == files.end()) return {};
    std::string name = file->second;
    name.erase(std::remove(name.begin(), name.end(), '"'), name.end());
    return fmt::format("{}:{}", name, ValueOf(location->second, "line").value_or("?"));
  }
};

std::vector<std::string> PeopleWantToKnow(const std::string& metadata, const Sources& sources) {
  std::vector<std::string> known;
  if (const auto name = ValueOf(metadata, "op_name")) known.push_back(*name);
  if (const auto file = ValueOf(metadata, "source_file")) {
    known.push_back(fmt::format("{}:{}", *file, ValueOf(metadata, "source_line").value_or("?")));
  } else if (const auto frame = ValueOf(metadata, "stack_frame_id")) {
    if (std::string source = sources.Of(*frame); !source.empty()) {
      known.push_back(std::move(source));
    }
  }
  return known;
}

// "name = shape opcode(inside)attributes", "%" and ROOT already away.
bool ParseInstruction(std::string_view line, TextInstruction* instruction) {
  const size_t equals = line.find(" = ");
  if (equals == std::string_view::npos) return false;
  instruction->name = std::string(Trimmed(line.substr(0, equals)));
  std::string_view rest = line.substr(equals + 3);
  size_t end = 0;
  if (!rest.empty() && rest.front() == '(') {
    end = EndOfBracket(rest, 0);
  } else {
    end = rest.find(' ');
  }
  if (end == std::string_view::npos) return false;
  instruction->shape = std::string(rest.substr(0, end));
  rest = Trimmed(rest.substr(end));
  const size_t bracket = rest.find('(');
  if (bracket == std::string_view::npos) return false;
  instruction->opcode = std::string(rest.substr(0, bracket));
  const size_t behind = EndOfBracket(rest, bracket);
  if (behind == std::string_view::npos) return false;
  instruction->inside = std::string(rest.substr(bracket + 1, behind - bracket - 2));
  instruction->attributes = std::string(rest.substr(behind));
  return !instruction->name.empty() && !instruction->opcode.empty();
}

class Parser {
 public:
  StatusOr<ProgramText> Parse(std::string_view text) {
    while (!text.empty()) {
      if (Status read = Line(TakeLine(text)); !read) return tl::unexpected(read.error());
    }
    if (!entry_ || open_)
      return MakeError(ErrorCode::kInvalidInput, "the program's text is cut off");
    program_.entry = *entry_;
    return std::move(program_);
  }

 private:
  Status Line(std::string_view line) {
    const std::string_view trimmed = Trimmed(line);
    if (trimmed.empty() || trimmed.rfind("HloModule", 0) == 0) return {};
    if (!open_) return Outside(trimmed);
    if (trimmed.front() == '}') {
      open_ = false;
      return {};
    }
    return Instruction(trimmed);
  }

  Status Outside(std::string_view line) {
    if (line.back() != '{') return Source(line);
    const bool entry = line.rfind("ENTRY ", 0) == 0;
    if (entry) line.remove_prefix(6);
    if (!line.empty() && line.front() == '%') line.remove_prefix(1);
    size_t end = 0;
    while (end < line.size() && IsNameCharacter(line[end])) ++end;
    if (end == 0) return Unreadable(line);
    if (entry) entry_ = program_.computations.size();
    program_.computations.push_back({std::string(line.substr(0, end)), {}, 0});
    known_[program_.computations.back().name] = program_.computations.size() - 1;
    places_.clear();
    open_ = true;
    return {};
  }

  // Tables of sources, above the computations.
  Status Source(std::string_view line) {
    if (line == "FileNames") {
      table_ = &sources_.files;
    } else if (line == "FileLocations") {
      table_ = &sources_.locations;
    } else if (line == "StackFrames") {
      table_ = &sources_.frames;
    } else if (line == "FunctionNames") {
      table_ = nullptr;
    } else if (table_ != nullptr) {
      const size_t space = line.find(' ');
      if (space != std::string_view::npos) {
        (*table_)[std::string(line.substr(0, space))] = std::string(line.substr(space + 1));
      }
    }
    return {};
  }

  Status Instruction(std::string_view line) {
    TextComputation& computation = program_.computations.back();
    const std::string_view whole = line;
    if (line.rfind("ROOT ", 0) == 0) {
      computation.root = computation.instructions.size();
      line.remove_prefix(5);
    }
    if (!line.empty() && line.front() == '%') line.remove_prefix(1);
    TextInstruction instruction;
    if (!ParseInstruction(line, &instruction)) return Unreadable(whole);
    instruction.metadata = PeopleWantToKnow(TakeOut(instruction.attributes, "metadata"), sources_);
    TakeOut(instruction.attributes, "control-predecessors");
    TakeOut(instruction.attributes, "sharding");
    TakeOut(instruction.attributes, "origin");
    if (instruction.opcode != "constant" && instruction.opcode != "parameter") {
      for (const std::string& name : NamesIn(instruction.inside)) {
        const auto found = places_.find(name);
        if (found == places_.end()) return Unreadable(whole);
        instruction.operands.push_back(found->second);
      }
    }
    for (const std::string& name : NamesIn(instruction.attributes)) {
      const auto found = known_.find(name);
      if (found != known_.end()) instruction.called.push_back(found->second);
    }
    places_[instruction.name] = computation.instructions.size();
    computation.instructions.push_back(std::move(instruction));
    return {};
  }

  ProgramText program_;
  std::optional<size_t> entry_;
  bool open_ = false;  // within a computation
  Sources sources_;
  Table* table_ = nullptr;
  std::unordered_map<std::string, size_t> known_;   // computations
  std::unordered_map<std::string, size_t> places_;  // of the computation at hand
};

// XLA's ".clone", ".remat2" and so on.
std::string OriginalName(const std::string& name) {
  size_t end = name.size();
  for (const char* suffix : {".clone", ".remat"}) end = std::min(end, name.find(suffix));
  return name.substr(0, end);
}

}  // namespace

StatusOr<ProgramText> ParseProgramText(std::string_view text) { return Parser().Parse(text); }

std::optional<TextPlace> FindInstruction(const ProgramText& program, const std::string& name) {
  std::optional<TextPlace> found;
  for (const std::string& wanted : {name, OriginalName(name)}) {
    for (size_t c = 0; c < program.computations.size(); ++c) {
      const auto& instructions = program.computations[c].instructions;
      for (size_t i = 0; i < instructions.size(); ++i) {
        if (instructions[i].name == wanted && (!found || c == program.entry))
          found = TextPlace{c, i};
      }
    }
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace hone::blame
