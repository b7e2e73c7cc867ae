#include "report/model_explorer.h"

#include <string>
#include <utility>
#include <vector>

#include "report/graph_json.h"
#include "report/reachable.h"

namespace hone::report {
namespace {

class Exporter {
 public:
  explicit Exporter(ProgramGraph graph)
      : graph_(std::move(graph)), calls_(graph_.computations.size()) {
    for (const ComputationInfo& computation : graph_.computations) {
      for (const InstructionInfo& instruction : computation.instructions) {
        for (uint32_t callee : instruction.called) ++calls_[callee];
      }
    }
  }

  Json Export() {
    Json graphs = Json::array();
    for (size_t c = graph_.computations.size(); c-- > 0;) {
      const bool entry = c + 1 == graph_.computations.size();
      if (!entry && calls_[c] == 1) continue;
      nodes_ = Json::array();
      Add(graph_.computations[c], "");
      graphs.push_back({{"id", graph_.computations[c].name}, {"nodes", std::move(nodes_)}});
    }
    return {{"label", graph_.name}, {"graphs", std::move(graphs)}};
  }

 private:
  // Instructions have one name in a program, so names are ids.
  void Add(const ComputationInfo& computation, const std::string& space) {
    for (const InstructionInfo& instruction : computation.instructions) {
      Json node{{"id", instruction.name}, {"label", instruction.opcode}, {"namespace", space}};
      Json subgraphs = Json::array();
      for (uint32_t callee : instruction.called) {
        const ComputationInfo& body = graph_.computations[callee];
        if (calls_[callee] != 1) {
          subgraphs.push_back(body.name);
        } else {
          Add(body, (space.empty() ? "" : space + "/") + instruction.name +
                        (instruction.called.size() > 1 ? "/" + body.name : ""));
        }
      }
      if (!subgraphs.empty()) node["subgraphIds"] = std::move(subgraphs);
      node["incomingEdges"] = Edges(instruction, computation);
      node["attrs"] = Attributes(instruction);
      node["outputsMetadata"] = Json::array();
      node["outputsMetadata"].push_back(
          {{"id", "0"},
           {"attrs", {{{"key", "tensor_shape"}, {"value", ShapeText(instruction.shape)}}}}});
      nodes_.push_back(std::move(node));
    }
  }

  static Json Edges(const InstructionInfo& instruction, const ComputationInfo& computation) {
    Json edges = Json::array();
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      edges.push_back({{"sourceNodeId", computation.instructions[instruction.operands[i]].name},
                       {"sourceNodeOutputId", "0"},
                       {"targetNodeInputId", std::to_string(i)}});
    }
    return edges;
  }

  static Json Attributes(const InstructionInfo& instruction) {
    Json attributes = Json::array();
    const auto add = [&attributes](const std::string& key, const std::string& value) {
      attributes.push_back({{"key", key}, {"value", value}});
    };
    add("name", instruction.name);
    add("shape", ShapeText(instruction.shape));
    add("bytes", std::to_string(instruction.shape.bytes));
    if (instruction.parameter >= 0) add("parameter", std::to_string(instruction.parameter));
    if (!instruction.literal.empty()) add("value", instruction.literal);
    for (const auto& [name, value] : instruction.attributes) add(name, value);
    return attributes;
  }

  const ProgramGraph graph_;
  std::vector<int> calls_;  // by computation: places that it is called from
  Json nodes_;
};

}  // namespace

Json ToModelExplorer(const ProgramGraph& graph) { return Exporter(Reachable(graph)).Export(); }

}  // namespace hone::report
