// An optimised program as estimates of run time see it.
#ifndef HONE_COST_COST_GRAPH_H_
#define HONE_COST_COST_GRAPH_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/program_arrays.h"
#include "core/program_graph.h"
#include "core/result.h"

namespace hone::cost {

struct CostNode {
  int32_t opcode = 0;  // index into CostGraph::opcodes
  int32_t type = 0;    // index into CostGraph::types
  double flops = 0;    // of one execution, bodies of fusions included; transcendentals weigh more
  double written = 0;  // bytes; of updates in place what is updated
  double read = 0;     // bytes; of slices what is taken, through fusions too
  double runs = 0;     // executions in a run of the program; 0 within fusions and reducers
  double partitions = 1;  // pieces that may run at once
  bool kernel = false;    // it is run as a piece of code of its own
  // As they lie in memory, the slowest first, so that layouts show; 0 beyond the rank.
  std::array<int64_t, kArrayDimensions> dimensions{};
};

// N nodes and the edges that enter them, as in ProgramArrays, but for EdgeKind::kCall: from each
// instruction of a computation to those that call it.
struct CostGraph {
  std::vector<std::string> opcodes;  // names
  std::vector<std::string> types;    // names
  std::vector<CostNode> nodes;
  std::vector<int32_t> edge_start{0};
  std::vector<int32_t> edge_source;
  std::vector<int8_t> edge_kind;
};

// Loops whose number of iterations the compiler does not tell are taken to run that often.
inline constexpr double kUnknownIterations = 16;

CostGraph MakeCostGraph(const ProgramGraph& program);

// As JSON, for stores. Equal graphs have equal texts.
std::string CostGraphToText(const CostGraph& graph);
// The error says what is wrong. What comes back is fit to be walked: every index is in range.
StatusOr<CostGraph> CostGraphFromText(std::string_view text);

}  // namespace hone::cost

#endif  // HONE_COST_COST_GRAPH_H_
