// Programs' arrays that no program has: every kind of edge, every opcode.
#ifndef HONE_TESTS_SUPPORT_RANDOM_GRAPH_H_
#define HONE_TESTS_SUPPORT_RANDOM_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/program_arrays.h"
#include "core/rng.h"

namespace hone::testing {

// `edges_per_node` on average, from earlier nodes to later ones; one edge in ten is a call or a
// control edge. Some opcodes and types are beyond any table.
inline ProgramArrays RandomGraph(int32_t nodes, double edges_per_node, Rng& rng) {
  ProgramArrays arrays;
  arrays.edge_start.push_back(0);
  for (int32_t i = 0; i < nodes; ++i) {
    arrays.opcode.push_back(static_cast<int32_t>(rng.Below(200)));
    arrays.type.push_back(static_cast<int32_t>(rng.Below(66)));
    arrays.computation.push_back(0);
    arrays.rank.push_back(static_cast<int32_t>(rng.Below(kArrayDimensions + 2)));
    for (int d = 0; d < kArrayDimensions; ++d) {
      arrays.dimensions.push_back(d < arrays.rank[i] ? static_cast<int64_t>(rng.Below(4096)) : 0);
    }
    arrays.flops.push_back(static_cast<float>(rng.Unit() * 1e12));
    arrays.bytes.push_back(static_cast<float>(rng.Below(1u << 30)));
    const size_t most = i == 0 ? 0 : static_cast<size_t>(2 * edges_per_node);
    for (size_t e = most == 0 ? 0 : rng.Below(most + 1); e > 0; --e) {
      arrays.edge_source.push_back(static_cast<int32_t>(rng.Below(i)));
      const EdgeKind rare = rng.Below(2) == 0 ? EdgeKind::kCall : EdgeKind::kControl;
      arrays.edge_kind.push_back(
          static_cast<int8_t>(rng.Below(10) == 0 ? rare : EdgeKind::kOperand));
    }
    arrays.edge_start.push_back(static_cast<int32_t>(arrays.edge_source.size()));
  }
  return arrays;
}

// The same graph with node i as node place[i]; the edges that enter a node are turned round, too.
inline ProgramArrays Permuted(const ProgramArrays& graph, const std::vector<int32_t>& place) {
  const size_t nodes = graph.opcode.size();
  std::vector<size_t> node_at(nodes);
  for (size_t i = 0; i < nodes; ++i) node_at[place[i]] = i;
  ProgramArrays permuted;
  permuted.edge_start.push_back(0);
  for (const size_t i : node_at) {
    permuted.opcode.push_back(graph.opcode[i]);
    permuted.type.push_back(graph.type[i]);
    permuted.rank.push_back(graph.rank[i]);
    permuted.computation.push_back(graph.computation[i]);
    permuted.dimensions.insert(permuted.dimensions.end(),
                               graph.dimensions.begin() + i * kArrayDimensions,
                               graph.dimensions.begin() + (i + 1) * kArrayDimensions);
    permuted.flops.push_back(graph.flops[i]);
    permuted.bytes.push_back(graph.bytes[i]);
    for (int32_t e = graph.edge_start[i + 1]; e-- > graph.edge_start[i];) {
      permuted.edge_source.push_back(place[graph.edge_source[e]]);
      permuted.edge_kind.push_back(graph.edge_kind[e]);
    }
    permuted.edge_start.push_back(static_cast<int32_t>(permuted.edge_source.size()));
  }
  return permuted;
}

inline std::vector<int32_t> RandomOrder(int32_t size, Rng& rng) {
  std::vector<int32_t> order(size);
  for (int32_t i = 0; i < size; ++i) {
    order[i] = i;
    std::swap(order[i], order[rng.Below(i + 1)]);
  }
  return order;
}

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_RANDOM_GRAPH_H_
