#include "blame/cut_program.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

namespace hone::blame {
namespace {

constexpr size_t kLongestConstant = 400;  // characters; longer ones are passed

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

}  // namespace

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
