#include "blame/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace hone::blame {
namespace {

constexpr size_t kMostOpcodes = 6;  // told of a kernel

struct Place {
  const ComputationInfo* computation = nullptr;
  const InstructionInfo* instruction = nullptr;
};

std::string ShapeText(const ShapeInfo& shape) {
  if (!shape.tuple.empty()) {
    std::string text;
    for (const ShapeInfo& part : shape.tuple) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", ShapeText(part));
    }
    return fmt::format("({})", text);
  }
  return fmt::format("{}[{}]", shape.type, fmt::join(shape.dimensions, ","));
}

// What an instruction computes: equal for equal operations on arrays of equal shapes, whatever they
// are called and wherever they stand. Layouts and how it is split do not count.
std::string Meaning(const ProgramGraph& graph, const Place& place) {
  const InstructionInfo& instruction = *place.instruction;
  std::string meaning = fmt::format("{} {}(", instruction.opcode, ShapeText(instruction.shape));
  for (uint32_t operand : instruction.operands) {
    meaning += ShapeText(place.computation->instructions[operand].shape) + ",";
  }
  meaning += ")";
  for (const auto& [name, value] : instruction.attributes) {
    const bool counts = name == "dimensions" || name == "direction" || name == "window" ||
                        name == "slice" || name == "padding" || name == "dim_labels" ||
                        name.find("contracting") != std::string::npos ||
                        name.find("batch") != std::string::npos || name == "custom_call_target";
    if (counts) meaning += fmt::format(" {}={}", name, value);
  }
  for (uint32_t called : instruction.called) {
    const ComputationInfo& computation = graph.computations[called];
    meaning += "{";
    for (const InstructionInfo& part : computation.instructions) {
      meaning += fmt::format("{} {}{};", part.opcode, ShapeText(part.shape), part.literal);
      for (uint32_t operand : part.operands) meaning += fmt::format("{},", operand);
    }
    meaning += "}";
  }
  return meaning;
}

std::string Original(const std::string& name) {
  size_t end = name.size();
  for (const char* suffix : {".clone", ".remat"}) end = std::min(end, name.find(suffix));
  return name.substr(0, end);
}

std::vector<std::string> PartsOf(const ProgramGraph& graph, const InstructionInfo& instruction,
                                 std::string* opcodes) {
  std::vector<std::string> parts;
  std::vector<std::string> shown;
  std::set<std::string> seen;
  if (instruction.opcode == "fusion") {
    for (uint32_t called : instruction.called) {
      for (const InstructionInfo& part : graph.computations[called].instructions) {
        if (part.opcode == "parameter" || part.opcode == "constant") continue;
        parts.push_back(Original(part.name));
        if (seen.insert(part.opcode).second) shown.push_back(part.opcode);
      }
    }
  }
  parts.push_back(Original(instruction.name));
  if (shown.size() > kMostOpcodes) {
    shown.resize(kMostOpcodes);
    shown.emplace_back("…");
  }
  *opcodes = shown.empty() ? instruction.opcode : fmt::format("{}", fmt::join(shown, ", "));
  return parts;
}

class Matcher {
 public:
  void Add(const std::vector<KernelTime>& kernels, const ProgramGraph& graph, bool is_a) {
    std::unordered_map<std::string, Place> named;
    for (const ComputationInfo& computation : graph.computations) {
      for (const InstructionInfo& instruction : computation.instructions) {
        named[instruction.name] = {&computation, &instruction};
      }
    }
    for (const KernelTime& kernel : kernels) {
      const auto found = named.find(kernel.name);
      if (HasKernelsInside(kernel) || found == named.end()) continue;
      KernelChange& change = changes_[Meaning(graph, found->second)];
      std::string& name = is_a ? change.name_a : change.name_b;
      if (name.empty()) name = kernel.name;
      (is_a ? change.kernels_a : change.kernels_b) += 1;
      (is_a ? change.seconds_a : change.seconds_b) += kernel.seconds;
      if (!change.opcode.empty()) continue;
      change.opcode = kernel.opcode;
      std::string opcodes;
      change.parts = PartsOf(graph, *found->second.instruction, &opcodes);
      change.what = fmt::format("{} of {}", opcodes, ShapeText(found->second.instruction->shape));
    }
  }

  std::vector<KernelChange> Take() {
    std::vector<KernelChange> list;
    for (auto& [meaning, change] : changes_) list.push_back(std::move(change));
    std::stable_sort(list.begin(), list.end(), [](const KernelChange& a, const KernelChange& b) {
      return std::abs(a.seconds_b - a.seconds_a) > std::abs(b.seconds_b - b.seconds_a);
    });
    return list;
  }

 private:
  std::map<std::string, KernelChange> changes_;  // by meaning
};

}  // namespace

std::vector<KernelChange> MatchKernels(const std::vector<KernelTime>& a,
                                       const ProgramGraph& graph_a,
                                       const std::vector<KernelTime>& b,
                                       const ProgramGraph& graph_b) {
  Matcher matcher;
  matcher.Add(a, graph_a, /*is_a=*/true);
  matcher.Add(b, graph_b, /*is_a=*/false);
  return matcher.Take();
}

}  // namespace hone::blame
