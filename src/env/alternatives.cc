#include "env/alternatives.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace hone {
namespace {

// Callees first, in the order of the calls, as the worker writes ProgramArrays.
void Walk(const ProgramGraph& graph, uint32_t computation, std::vector<bool>& seen,
          std::vector<std::pair<uint32_t, uint32_t>>& nodes) {
  if (seen[computation]) return;
  seen[computation] = true;
  const std::vector<InstructionInfo>& instructions = graph.computations[computation].instructions;
  for (const InstructionInfo& instruction : instructions) {
    for (const uint32_t callee : instruction.called) Walk(graph, callee, seen, nodes);
  }
  for (uint32_t i = 0; i < instructions.size(); ++i) nodes.emplace_back(computation, i);
}

}  // namespace

std::vector<std::pair<uint32_t, uint32_t>> NodesOf(const ProgramGraph& graph) {
  std::vector<std::pair<uint32_t, uint32_t>> nodes;
  if (graph.computations.empty()) return nodes;
  std::vector<bool> seen(graph.computations.size());
  Walk(graph, static_cast<uint32_t>(graph.computations.size() - 1), seen, nodes);
  return nodes;
}

std::vector<int32_t> NodesOfSites(const ProgramGraph& graph, const Rewrites& rewrites) {
  std::unordered_map<std::string_view, int32_t> by_name;  // unique within a module
  const auto nodes = NodesOf(graph);
  for (size_t node = 0; node < nodes.size(); ++node) {
    const auto [computation, instruction] = nodes[node];
    by_name.emplace(graph.computations[computation].instructions[instruction].name,
                    static_cast<int32_t>(node));
  }
  std::vector<int32_t> of_sites;
  of_sites.reserve(rewrites.sites.size());
  for (const RewriteSite& site : rewrites.sites) {
    const auto found = by_name.find(site.instruction);
    of_sites.push_back(found == by_name.end() ? -1 : found->second);
  }
  return of_sites;
}

Alternatives FindAlternatives(const ProgramArrays& arrays, const std::vector<int32_t>& nodes) {
  std::map<int32_t, std::vector<int32_t>> sites;
  for (size_t site = 0; site < nodes.size(); ++site) {
    if (nodes[site] >= 0) sites[nodes[site]].push_back(static_cast<int32_t>(site));
  }
  std::map<int32_t, std::vector<int32_t>> users;
  for (size_t node = 0; node + 1 < arrays.edge_start.size(); ++node) {
    for (int32_t edge = arrays.edge_start[node]; edge < arrays.edge_start[node + 1]; ++edge) {
      const auto at = static_cast<size_t>(edge);
      if (arrays.edge_kind[at] != static_cast<int8_t>(EdgeKind::kOperand)) continue;
      const int32_t source = arrays.edge_source[at];
      if (!sites.contains(source)) continue;
      std::vector<int32_t>& of = users[source];
      if (of.empty() || of.back() != static_cast<int32_t>(node)) {
        of.push_back(static_cast<int32_t>(node));
      }
    }
  }
  Alternatives out;
  out.site_start.push_back(0);
  out.user_start.push_back(0);
  for (const auto& [original, numbers] : sites) {
    out.original.push_back(original);
    out.site.insert(out.site.end(), numbers.begin(), numbers.end());
    out.site_start.push_back(static_cast<int32_t>(out.site.size()));
    const std::vector<int32_t>& of = users[original];
    out.user.insert(out.user.end(), of.begin(), of.end());
    out.user_start.push_back(static_cast<int32_t>(out.user.size()));
  }
  return out;
}

std::string_view RootOpcode(std::string_view text) {
  const size_t line = text.rfind('\n');
  if (line != text.npos) text.remove_prefix(line + 1);
  const size_t equals = text.find(" = ");
  if (equals == text.npos) return {};
  text.remove_prefix(equals + 3);
  // Past the shape: a tuple's has brackets within and spaces between.
  size_t at = 0;
  int depth = 0;
  for (; at < text.size() && (depth > 0 || text[at] != ' '); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')') --depth;
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  const size_t bracket = text.find('(');
  return bracket == text.npos ? std::string_view() : text.substr(0, bracket);
}

}  // namespace hone
