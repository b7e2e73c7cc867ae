#include "blame/program_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace hone::blame {
namespace {

constexpr size_t kLongestConstant = 400;  // characters; longer ones are passed

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

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
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
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      if (Status read = Line(line); !read) return tl::unexpected(read.error());
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

bool IsPassedAlong(const TextInstruction& instruction) {
  return instruction.opcode == "parameter" || instruction.opcode == "constant";
}

bool IsPassable(const std::string& shape) {
  return shape.find("token[") == std::string::npos && shape.find("opaque[") == std::string::npos &&
         shape.find("<=") == std::string::npos;
}

std::string LineOf(const TextInstruction& instruction) {
  return fmt::format("%{} = {} {}({}){}", instruction.name, instruction.shape, instruction.opcode,
                     instruction.inside, instruction.attributes);
}

void Require(const ProgramText& program, size_t computation, std::set<size_t>& needed) {
  if (!needed.insert(computation).second) return;
  for (const TextInstruction& instruction : program.computations[computation].instructions) {
    for (size_t called : instruction.called) Require(program, called, needed);
  }
}

// The same text with another name behind the "%".
std::string Renamed(const std::string& text, const std::string& from, const std::string& to) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] != '%') continue;
    size_t end = i + 1;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    const std::string name = text.substr(i + 1, end - i - 1);
    result += name == from ? to : name;
    i = end - 1;
  }
  return result;
}

// "f32" of "f32[8,64]{1,0}".
std::string ElementType(const std::string& shape) { return shape.substr(0, shape.find('[')); }

// The zero of an element type; "" where it has none that is written so.
std::string ZeroOf(const std::string& type) {
  if (type == "pred") return "false";
  const bool number = type == "bf16" || type == "f16" || type == "f32" || type == "f64" ||
                      ((type[0] == 's' || type[0] == 'u') && type.size() <= 3);
  return number ? "0" : "";
}

// What nobody reads goes, but parameters.
void RemoveUnread(TextComputation& computation) {
  std::vector<bool> read(computation.instructions.size(), false);
  read[computation.root] = true;
  for (size_t i = computation.instructions.size(); i-- > 0;) {
    if (computation.instructions[i].opcode == "parameter") read[i] = true;
    if (!read[i]) continue;
    for (size_t operand : computation.instructions[i].operands) read[operand] = true;
  }
  std::vector<size_t> place(read.size(), 0);
  std::vector<TextInstruction> left;
  for (size_t i = 0; i < read.size(); ++i) {
    place[i] = left.size();
    if (read[i]) left.push_back(std::move(computation.instructions[i]));
  }
  for (TextInstruction& instruction : left) {
    for (size_t& operand : instruction.operands) operand = place[operand];
  }
  computation.root = place[computation.root];
  computation.instructions = std::move(left);
}

std::string TextOf(const TextComputation& computation) {
  std::string parameters;
  std::map<int, std::string> by_number;
  for (const TextInstruction& instruction : computation.instructions) {
    if (instruction.opcode != "parameter") continue;
    by_number[std::stoi(instruction.inside)] =
        fmt::format("{}: {}", instruction.name, instruction.shape);
  }
  for (const auto& [number, parameter] : by_number) {
    parameters += fmt::format("{}{}", parameters.empty() ? "" : ", ", parameter);
  }
  std::string text = fmt::format("%{} ({}) -> {} {{\n", computation.name, parameters,
                                 computation.instructions[computation.root].shape);
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    text += fmt::format("  {}{}\n", i == computation.root ? "ROOT " : "",
                        LineOf(computation.instructions[i]));
  }
  return text + "}\n\n";
}

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

std::vector<size_t> Operations(const TextComputation& computation) {
  std::vector<size_t> operations;
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    if (!IsPassedAlong(computation.instructions[i])) operations.push_back(i);
  }
  return operations;
}

StatusOr<CutProgram> Cut(const ProgramText& program, size_t computation,
                         const std::vector<size_t>& kept, std::optional<size_t> only) {
  const std::vector<TextInstruction>& all = program.computations[computation].instructions;
  const std::set<size_t> inside(kept.begin(), kept.end());
  if (inside.empty()) return MakeError(ErrorCode::kUnsupported, "nothing is left of the program");
  std::set<size_t> outside, needed, read_inside, results;
  for (size_t i : inside) {
    for (size_t operand : all[i].operands) {
      (inside.count(operand) > 0 ? read_inside : outside).insert(operand);
    }
    for (size_t called : all[i].called) Require(program, called, needed);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (inside.count(i) > 0) {
      if (i == program.computations[computation].root || read_inside.count(i) == 0) {
        results.insert(i);
      }
      continue;
    }
    for (size_t operand : all[i].operands) {
      if (inside.count(operand) > 0) results.insert(operand);
    }
  }
  if (only) results = {*only};
  CutProgram cut;
  std::string body, parameters;
  size_t number = 0;
  for (size_t i : outside) {
    const TextInstruction& one = all[i];
    if (one.opcode == "constant" && one.inside.size() <= kLongestConstant) continue;
    if (!IsPassable(one.shape)) {
      return MakeError(ErrorCode::kUnsupported,
                       fmt::format("'{}' cannot be a parameter: it is {}", one.name, one.shape));
    }
    body += fmt::format("  %{} = {} parameter({})\n", one.name, one.shape, number);
    parameters += fmt::format("{}{}: {}", number == 0 ? "" : ", ", one.name, one.shape);
    ++number;
    ++cut.instructions;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const bool constant = outside.count(i) > 0 && all[i].opcode == "constant" &&
                          all[i].inside.size() <= kLongestConstant;
    if (inside.count(i) == 0 && !constant) continue;
    if (!IsPassable(all[i].shape)) {
      return MakeError(ErrorCode::kUnsupported,
                       fmt::format("'{}' cannot stand alone: it is {}", all[i].name, all[i].shape));
    }
    const bool root = results.size() == 1 && *results.begin() == i;
    body += fmt::format("  {}{}\n", root ? "ROOT " : "", LineOf(all[i]));
    ++cut.instructions;
  }
  std::string result = all[*results.begin()].shape;
  if (results.size() > 1) {
    std::string shapes, names;
    for (size_t i : results) {
      shapes += fmt::format("{}{}", shapes.empty() ? "" : ", ", all[i].shape);
      names += fmt::format("{}%{}", names.empty() ? "" : ", ", all[i].name);
    }
    result = fmt::format("({})", shapes);
    body += fmt::format("  ROOT %all.results = {} tuple({})\n", result, names);
    ++cut.instructions;
  }
  cut.text = "HloModule reduced\n\n";
  for (size_t c : needed) {
    cut.text += TextOf(program.computations[c]);
    cut.instructions += program.computations[c].instructions.size();
  }
  cut.text += fmt::format("ENTRY %reduced ({}) -> {} {{\n{}}}\n", parameters, result, body);
  return cut;
}

CutProgram Print(const ProgramText& program) {
  std::set<size_t> needed;
  Require(program, program.entry, needed);
  needed.erase(program.entry);
  CutProgram printed;
  printed.text = "HloModule reduced\n\n";
  for (size_t c : needed) {
    printed.text += TextOf(program.computations[c]);
    printed.instructions += program.computations[c].instructions.size();
  }
  printed.text += "ENTRY " + TextOf(program.computations[program.entry]);
  printed.text.pop_back();
  printed.instructions += program.computations[program.entry].instructions.size();
  return printed;
}

std::vector<size_t> Eliminable(const TextComputation& computation) {
  std::vector<size_t> list;
  for (size_t i : Operations(computation)) {
    const TextInstruction& one = computation.instructions[i];
    const bool array = one.shape[0] != '(' && one.shape.find("[]") == std::string::npos;
    if (array && i != computation.root && one.opcode != "get-tuple-element" &&
        !ZeroOf(ElementType(one.shape)).empty()) {
      list.push_back(i);
    }
  }
  return list;
}

ProgramText Eliminate(ProgramText program, size_t computation, const std::vector<size_t>& gone) {
  TextComputation& within = program.computations[computation];
  const std::set<size_t> all(gone.begin(), gone.end());
  std::map<std::string, size_t> first;  // of a shape, the first that stays
  TextComputation changed{within.name, {}, 0};
  std::vector<size_t> place(within.instructions.size(), 0);
  for (size_t i = 0; i < within.instructions.size(); ++i) {
    TextInstruction one = within.instructions[i];
    if (all.count(i) > 0) {
      const auto same = first.find(one.shape);
      if (same != first.end()) {
        place[i] = same->second;
        continue;
      }
      const std::string type = ElementType(one.shape);
      TextInstruction zero;
      zero.name = one.name + ".zero";
      zero.shape = type + "[]";
      zero.opcode = "constant";
      zero.inside = ZeroOf(type);
      changed.instructions.push_back(zero);
      one.opcode = "broadcast";
      one.inside = "%" + zero.name;
      one.operands = {changed.instructions.size() - 1};
      one.attributes = ", dimensions={}";
      one.called.clear();
    } else {
      for (size_t& operand : one.operands) {
        const std::string& old = within.instructions[operand].name;
        operand = place[operand];
        one.inside = Renamed(one.inside, old, changed.instructions[operand].name);
      }
    }
    place[i] = changed.instructions.size();
    if (i == within.root) changed.root = place[i];
    first.try_emplace(one.shape, place[i]);
    changed.instructions.push_back(std::move(one));
  }
  RemoveUnread(changed);
  within = std::move(changed);
  return program;
}

std::vector<size_t> Slice(const TextComputation& computation, size_t instruction) {
  std::set<size_t> reached;
  std::vector<size_t> open = {instruction};
  while (!open.empty()) {
    const size_t i = open.back();
    open.pop_back();
    const TextInstruction& one = computation.instructions[i];
    if (IsPassedAlong(one) || !reached.insert(i).second) continue;
    open.insert(open.end(), one.operands.begin(), one.operands.end());
  }
  return {reached.begin(), reached.end()};
}

std::vector<size_t> Neighbourhood(const TextComputation& computation,
                                  const std::vector<size_t>& from, int hops) {
  const std::vector<TextInstruction>& all = computation.instructions;
  std::vector<std::vector<size_t>> users(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t operand : all[i].operands) users[operand].push_back(i);
  }
  std::set<size_t> reached;
  for (size_t i : from) {
    if (!IsPassedAlong(all[i])) reached.insert(i);
  }
  for (int hop = 0; hop < hops; ++hop) {
    const std::set<size_t> border = reached;
    for (size_t i : border) {
      for (const auto& next : {all[i].operands, users[i]}) {
        for (size_t other : next) {
          if (!IsPassedAlong(all[other])) reached.insert(other);
        }
      }
    }
  }
  return {reached.begin(), reached.end()};
}

}  // namespace hone::blame
