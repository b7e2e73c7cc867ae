// Small random e-graphs, and what the oracles need of them.
#ifndef HONE_TESTS_EGRAPH_RANDOM_GRAPH_H_
#define HONE_TESTS_EGRAPH_RANDOM_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "egraph/egraph.h"

namespace hone::egraph {

// What was done to a graph: nodes (operator, children by number of node) and merges (by number of
// node), so that an oracle can do it in its own way.
struct History {
  std::vector<std::pair<OpId, std::vector<size_t>>> nodes;
  std::vector<std::pair<size_t, size_t>> merges;
};

inline History RandomHistory(Rng& rng, size_t nodes, size_t merges, size_t operators) {
  History history;
  for (size_t i = 0; i < nodes; ++i) {
    const OpId op = static_cast<OpId>(rng.Below(operators));
    std::vector<size_t> children;
    const size_t arity = i < 2 ? 0 : op % 3;  // an operator has one arity, but for the first leaves
    for (size_t k = 0; k < arity; ++k) children.push_back(rng.Below(i));
    history.nodes.push_back({i < 2 ? static_cast<OpId>(operators + i) : op, std::move(children)});
  }
  for (size_t i = 0; i < merges; ++i) {
    history.merges.push_back({rng.Below(nodes), rng.Below(nodes)});
  }
  return history;
}

// The node that each entry of `history.nodes` became.
inline std::vector<NodeId> Play(const History& history, EGraph& graph, size_t rebuild_every) {
  std::vector<NodeId> made;
  for (const auto& [op, children] : history.nodes) {
    std::vector<ClassId> classes;
    for (const size_t child : children) classes.push_back(graph.ClassOf(made[child]));
    made.push_back(graph.AddNode(op, std::move(classes)));
  }
  size_t done = 0;
  for (const auto& [a, b] : history.merges) {
    graph.Merge(graph.ClassOf(made[a]), graph.ClassOf(made[b]));
    if (++done % rebuild_every == 0) graph.Rebuild();
  }
  graph.Rebuild();
  return made;
}

}  // namespace hone::egraph

#endif  // HONE_TESTS_EGRAPH_RANDOM_GRAPH_H_
