#include "report/reachable.h"

#include <cstddef>
#include <vector>

namespace hone::report {
namespace {

// By computation: is it reached from `from`?
std::vector<bool> ReachedFrom(const ProgramGraph& graph, size_t from) {
  std::vector<bool> reached(graph.computations.size());
  reached[from] = true;
  for (size_t c = from + 1; c-- > 0;) {  // callers come after their callees
    if (!reached[c]) continue;
    for (const InstructionInfo& instruction : graph.computations[c].instructions) {
      for (uint32_t callee : instruction.called) reached[callee] = true;
    }
  }
  return reached;
}

}  // namespace

ProgramGraph Reachable(const ProgramGraph& graph) {
  const size_t count = graph.computations.size();
  std::vector<bool> called(count);
  for (const ComputationInfo& computation : graph.computations) {
    for (const InstructionInfo& instruction : computation.instructions) {
      for (uint32_t callee : instruction.called) called[callee] = true;
    }
  }
  std::vector<bool> best(count);
  size_t most = 0;
  for (size_t c = 0; c < count; ++c) {
    if (called[c]) continue;
    const std::vector<bool> reached = ReachedFrom(graph, c);
    size_t instructions = 0;
    for (size_t i = 0; i <= c; ++i) {
      if (reached[i]) instructions += graph.computations[i].instructions.size();
    }
    if (instructions < most) continue;
    most = instructions;
    best = reached;
  }
  ProgramGraph kept;
  kept.name = graph.name;
  std::vector<uint32_t> number(count);
  for (size_t c = 0; c < count; ++c) {
    if (!best[c]) continue;
    number[c] = static_cast<uint32_t>(kept.computations.size());
    kept.computations.push_back(graph.computations[c]);
    for (InstructionInfo& instruction : kept.computations.back().instructions) {
      for (uint32_t& callee : instruction.called) callee = number[callee];
    }
  }
  return kept;
}

}  // namespace hone::report
