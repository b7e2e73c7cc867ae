// A node is [opcode, type, flops, written, read, runs, partitions, kernel, dimensions…]; the edges
// that enter it are [source * kEdgeKinds + kind, …].
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cost/cost_graph.h"

namespace hone::cost {
namespace {

using Json = nlohmann::json;

constexpr int kNumbers = 8;  // of a node, before its dimensions
constexpr int kEdgeKinds = 3;
constexpr size_t kMostNodes = 1'000'000;

tl::unexpected<Error> Bad(const std::string& what) {
  return MakeError(ErrorCode::kInvalidInput, "it is no cost graph: " + what);
}

// Whole numbers as such: most are, and they are shorter.
Json Number(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15) return static_cast<int64_t>(number);
  return number;
}

StatusOr<std::vector<std::string>> Names(const Json& json, const char* field) {
  const auto list = json.find(field);
  if (list == json.end() || !list->is_array()) return Bad(fmt::format("it lacks '{}'", field));
  std::vector<std::string> names;
  for (const Json& name : *list) {
    if (!name.is_string()) return Bad(fmt::format("'{}' has something that is no name", field));
    names.push_back(name.get<std::string>());
  }
  return names;
}

bool ReadNode(const Json& json, const CostGraph& graph, CostNode& node) {
  if (!json.is_array() || json.size() < kNumbers || json.size() > kNumbers + kArrayDimensions) {
    return false;
  }
  for (const Json& number : json) {
    if (!number.is_number() || !std::isfinite(number.get<double>()) || number.get<double>() < 0 ||
        number.get<double>() > 1e300) {
      return false;
    }
  }
  if (json[0].get<double>() >= static_cast<double>(graph.opcodes.size()) ||
      json[1].get<double>() >= static_cast<double>(graph.types.size())) {
    return false;
  }
  node.opcode = json[0].get<int32_t>();
  node.type = json[1].get<int32_t>();
  node.flops = json[2].get<double>();
  node.written = json[3].get<double>();
  node.read = json[4].get<double>();
  node.runs = json[5].get<double>();
  node.partitions = json[6].get<double>();
  node.kernel = json[7].get<double>() != 0;
  for (size_t d = kNumbers; d < json.size(); ++d) {
    if (!json[d].is_number_integer()) return false;
    node.dimensions[d - kNumbers] = json[d].get<int64_t>();
  }
  return true;
}

}  // namespace

std::string CostGraphToText(const CostGraph& graph) {
  Json nodes = Json::array();
  Json edges = Json::array();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const CostNode& node = graph.nodes[i];
    Json row{node.opcode,       node.type,         Number(node.flops),      Number(node.written),
             Number(node.read), Number(node.runs), Number(node.partitions), node.kernel ? 1 : 0};
    size_t rank = kArrayDimensions;
    while (rank > 0 && node.dimensions[rank - 1] == 0) --rank;
    for (size_t d = 0; d < rank; ++d) row.push_back(node.dimensions[d]);
    nodes.push_back(std::move(row));
    Json entering = Json::array();
    for (int32_t e = graph.edge_start[i]; e < graph.edge_start[i + 1]; ++e) {
      entering.push_back(int64_t{graph.edge_source[e]} * kEdgeKinds + graph.edge_kind[e]);
    }
    edges.push_back(std::move(entering));
  }
  return Json{
      {"opcodes", graph.opcodes}, {"types", graph.types}, {"nodes", nodes}, {"edges", edges}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

StatusOr<CostGraph> CostGraphFromText(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Bad("it is not an object of JSON");
  CostGraph graph;
  for (auto [field, names] :
       {std::pair("opcodes", &graph.opcodes), std::pair("types", &graph.types)}) {
    StatusOr<std::vector<std::string>> read = Names(json, field);
    if (!read) return tl::unexpected(read.error());
    *names = *std::move(read);
  }
  const auto nodes = json.find("nodes");
  const auto edges = json.find("edges");
  if (nodes == json.end() || edges == json.end() || !nodes->is_array() || !edges->is_array() ||
      nodes->size() != edges->size() || nodes->size() > kMostNodes) {
    return Bad("'nodes' and 'edges' are not lists of one length");
  }
  for (size_t i = 0; i < nodes->size(); ++i) {
    if (!ReadNode((*nodes)[i], graph, graph.nodes.emplace_back())) {
      return Bad(fmt::format("node {} is malformed", i));
    }
    const Json& entering = (*edges)[i];
    if (!entering.is_array()) return Bad(fmt::format("the edges of node {} are no list", i));
    for (const Json& edge : entering) {
      if (!edge.is_number_integer() || edge.get<int64_t>() < 0 ||
          edge.get<int64_t>() >= static_cast<int64_t>(nodes->size()) * kEdgeKinds) {
        return Bad(fmt::format("an edge of node {} comes from nowhere", i));
      }
      graph.edge_source.push_back(static_cast<int32_t>(edge.get<int64_t>() / kEdgeKinds));
      graph.edge_kind.push_back(static_cast<int8_t>(edge.get<int64_t>() % kEdgeKinds));
    }
    graph.edge_start.push_back(static_cast<int32_t>(graph.edge_source.size()));
  }
  return graph;
}

}  // namespace hone::cost
