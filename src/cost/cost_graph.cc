#include "cost/cost_graph.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "cost/work.h"

namespace hone::cost {
namespace {

// Iterations of a loop, from {"known_trip_count":{"n":"10"},…}.
double IterationsOf(const InstructionInfo& loop) {
  const std::string_view config = AttributeOf(loop, "backend_config");
  const size_t known = config.find("\"known_trip_count\"");
  const size_t number = known == config.npos ? known : config.find("\"n\":\"", known);
  if (number == config.npos) return kUnknownIterations;
  int64_t iterations = 0;
  const char* const begin = config.data() + number + 5;
  const auto parsed = std::from_chars(begin, config.data() + config.size(), iterations);
  return parsed.ec == std::errc() && iterations >= 0 ? static_cast<double>(iterations)
                                                     : kUnknownIterations;
}

// {"outer_dimension_partitions":["1","2"],…}
double PartitionsOf(const InstructionInfo& instruction) {
  std::string_view config = AttributeOf(instruction, "backend_config");
  constexpr std::string_view kName = "\"outer_dimension_partitions\":[";
  const size_t begin = config.find(kName);
  if (begin == config.npos) return 1;
  config.remove_prefix(begin + kName.size());
  config = config.substr(0, config.find(']'));
  double partitions = 1;
  while (!config.empty()) {
    const size_t digit = config.find_first_of("0123456789");
    if (digit == config.npos) break;
    int64_t pieces = 1;
    const auto parsed =
        std::from_chars(config.data() + digit, config.data() + config.size(), pieces);
    if (parsed.ec == std::errc()) partitions *= static_cast<double>(std::max<int64_t>(pieces, 1));
    config.remove_prefix(static_cast<size_t>(parsed.ptr - config.data()));
  }
  return partitions;
}

bool TakesPart(const InstructionInfo& user, uint32_t operand) {
  const bool first = !user.operands.empty() && user.operands[0] == operand;
  return first &&
         (user.opcode == "slice" || user.opcode == "dynamic-slice" || user.opcode == "gather");
}

bool UpdatesInPlace(const InstructionInfo& instruction) {
  return instruction.opcode == "dynamic-update-slice" && instruction.operands.size() >= 2;
}

// Bytes of instruction `index` that those who use it take, within its computation.
double BytesTaken(const ComputationInfo& computation, uint32_t index) {
  const double all = static_cast<double>(computation.instructions[index].shape.bytes);
  double taken = 0;
  for (const InstructionInfo& user : computation.instructions) {
    if (std::find(user.operands.begin(), user.operands.end(), index) == user.operands.end())
      continue;
    if (TakesPart(user, index)) {
      taken += static_cast<double>(user.shape.bytes);
    } else if (UpdatesInPlace(user) && user.operands[0] == index) {
      continue;  // what is not updated is not touched
    } else {
      return all;
    }
  }
  return std::min(taken, all);
}

class Maker {
 public:
  explicit Maker(const ProgramGraph& program) : program_(program) {
    for (const ComputationInfo& computation : program.computations) {
      first_.push_back(static_cast<int32_t>(graph_.nodes.size()));
      flops_.push_back(0);
      for (const InstructionInfo& instruction : computation.instructions) {
        AddNode(instruction, computation);
      }
    }
  }

  CostGraph Make() {
    if (!program_.computations.empty()) {
      CountRuns(static_cast<uint32_t>(program_.computations.size() - 1), 1, 0);
    }
    return std::move(graph_);
  }

 private:
  void AddNode(const InstructionInfo& instruction, const ComputationInfo& computation) {
    CostNode node;
    node.opcode = NumberOf(instruction.opcode, opcodes_, graph_.opcodes);
    node.type = NumberOf(instruction.shape.type, types_, graph_.types);
    node.partitions = PartitionsOf(instruction);
    node.flops = FlopsOf(instruction, computation);
    const bool fusion = instruction.opcode == "fusion";
    if (fusion) {
      for (uint32_t callee : instruction.called) node.flops += flops_[callee];
    }
    flops_.back() += node.flops;
    node.written = Written(instruction, computation);
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      node.read += Read(instruction, computation, i);
    }
    const ShapeInfo& shape = instruction.shape;
    const size_t rank = shape.dimensions.size();
    for (size_t d = 0; d < std::min<size_t>(rank, kArrayDimensions); ++d) {
      const size_t lies = shape.minor_to_major.size() == rank
                              ? static_cast<size_t>(shape.minor_to_major[rank - 1 - d])
                              : d;
      if (lies < rank) node.dimensions[d] = shape.dimensions[lies];
    }
    graph_.nodes.push_back(node);
    for (uint32_t operand : instruction.operands) {
      AddEdge(first_.back() + static_cast<int32_t>(operand), EdgeKind::kOperand);
    }
    for (uint32_t callee : instruction.called) {
      const size_t body = program_.computations[callee].instructions.size();
      for (size_t i = 0; i < body; ++i) {
        AddEdge(first_[callee] + static_cast<int32_t>(i), EdgeKind::kCall);
      }
    }
    graph_.edge_start.push_back(static_cast<int32_t>(graph_.edge_source.size()));
  }

  void AddEdge(int32_t source, EdgeKind kind) {
    graph_.edge_source.push_back(source);
    graph_.edge_kind.push_back(static_cast<int8_t>(kind));
  }

  static int32_t NumberOf(const std::string& name, std::map<std::string, int32_t>& known,
                          std::vector<std::string>& names) {
    const auto [place, added] = known.try_emplace(name, static_cast<int32_t>(names.size()));
    if (added) names.push_back(name);
    return place->second;
  }

  double Written(const InstructionInfo& instruction, const ComputationInfo& computation) const {
    const double all = static_cast<double>(instruction.shape.bytes);
    if (UpdatesInPlace(instruction)) {
      return static_cast<double>(computation.instructions[instruction.operands[1]].shape.bytes);
    }
    if (instruction.opcode != "fusion" || instruction.called.empty()) return all;
    const ComputationInfo& body = program_.computations[instruction.called[0]];
    const InstructionInfo& root = body.instructions[body.root];
    return root.opcode == "fusion" ? all : std::min(all, Written(root, body));
  }

  double Read(const InstructionInfo& instruction, const ComputationInfo& computation,
              size_t operand) const {
    const uint32_t index = instruction.operands[operand];
    const double all = static_cast<double>(computation.instructions[index].shape.bytes);
    if (operand == 0 && TakesPart(instruction, index)) {
      return std::min(all, static_cast<double>(instruction.shape.bytes));
    }
    if (operand == 0 && UpdatesInPlace(instruction)) return 0;
    if (instruction.opcode != "fusion" || instruction.called.empty()) return all;
    const ComputationInfo& body = program_.computations[instruction.called[0]];
    for (uint32_t i = 0; i < body.instructions.size(); ++i) {
      if (body.instructions[i].parameter == static_cast<int32_t>(operand)) {
        return BytesTaken(body, i);
      }
    }
    return all;
  }

  void CountRuns(uint32_t computation, double runs, int depth) {
    static const std::set<std::string_view> kNoKernels = {
        "parameter",      "constant",    "tuple",       "get-tuple-element", "bitcast",
        "while",          "call",        "conditional", "after-all",         "opt-barrier",
        "add-dependency", "async-start", "async-done"};
    if (depth > 64) return;  // deeper than any program's; a damaged one may be
    const ComputationInfo& info = program_.computations[computation];
    for (size_t i = 0; i < info.instructions.size(); ++i) {
      const InstructionInfo& instruction = info.instructions[i];
      CostNode& node = graph_.nodes[static_cast<size_t>(first_[computation]) + i];
      node.runs += runs;
      node.kernel = kNoKernels.count(instruction.opcode) == 0;
      double times = 0;
      if (instruction.opcode == "while") {
        times = IterationsOf(instruction);
      } else if (instruction.opcode == "call" || instruction.opcode == "async-start") {
        times = 1;
      } else if (instruction.opcode == "conditional") {
        times = 1.0 / static_cast<double>(std::max<size_t>(instruction.called.size(), 1));
      }
      if (times == 0) continue;
      for (uint32_t callee : instruction.called) CountRuns(callee, runs * times, depth + 1);
    }
  }

  const ProgramGraph& program_;
  CostGraph graph_;
  std::vector<int32_t> first_;  // by computation, its first node
  std::vector<double> flops_;   // by computation, of one execution
  std::map<std::string, int32_t> opcodes_, types_;
};

}  // namespace

CostGraph MakeCostGraph(const ProgramGraph& program) { return Maker(program).Make(); }

}  // namespace hone::cost
