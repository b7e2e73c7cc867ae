#include "egraph/saturate.h"

#include <algorithm>

namespace hone::egraph {
namespace {

// Past this many doublings nothing is ever banned again within any run that ends.
constexpr int kMostDoublings = 20;

struct Allowance {
  int banned_until = 0;
  int bans = 0;
};

}  // namespace

const char* ToString(StopReason reason) {
  switch (reason) {
    case StopReason::kSaturated:
      return "saturated";
    case StopReason::kIterations:
      return "iterations";
    case StopReason::kNodes:
      return "nodes";
    case StopReason::kTime:
      return "time";
  }
  return "?";
}

RunReport Saturate(EGraph& graph, const std::vector<Rewrite*>& rewrites, const Limits& limits,
                   const Clock& clock, const std::function<void(const EGraph&)>& before_search) {
  RunReport report;
  const double start = clock();
  const auto late = [&] { return limits.seconds > 0 && clock() - start >= limits.seconds; };
  std::vector<Allowance> allowances(rewrites.size());
  std::vector<std::vector<Match>> matches(rewrites.size());
  graph.Rebuild();
  report.stop = StopReason::kIterations;
  while (report.iterations < limits.iterations) {
    if (graph.node_count() >= limits.nodes) report.stop = StopReason::kNodes;
    if (late()) report.stop = StopReason::kTime;
    if (report.stop != StopReason::kIterations) break;
    const int iteration = report.iterations++;
    if (before_search) before_search(graph);

    bool all_searched = true;
    for (size_t i = 0; i < rewrites.size(); ++i) {
      matches[i].clear();
      Allowance& allowance = allowances[i];
      if (iteration < allowance.banned_until) {
        all_searched = false;
        continue;
      }
      const int doublings = std::min(allowance.bans, kMostDoublings);
      const size_t most = limits.match_limit << doublings;
      rewrites[i]->Search(graph, most + 1, &matches[i]);
      if (matches[i].size() > most) {
        allowance.banned_until = iteration + 1 + (limits.ban_length << doublings);
        ++allowance.bans;
        matches[i].clear();
        all_searched = false;
      }
    }

    const size_t nodes_before = graph.node_count();
    const size_t merges_before = graph.merges();
    for (size_t i = 0; i < rewrites.size() && report.stop == StopReason::kIterations; ++i) {
      for (const Match& match : matches[i]) {
        if (rewrites[i]->Apply(graph, match)) ++report.applied;
        if (graph.node_count() >= limits.nodes) report.stop = StopReason::kNodes;
        if (late()) report.stop = StopReason::kTime;
        if (report.stop != StopReason::kIterations) break;
      }
    }
    graph.Rebuild();
    if (report.stop != StopReason::kIterations) break;
    if (graph.node_count() == nodes_before && graph.merges() == merges_before) {
      if (all_searched) {
        report.stop = StopReason::kSaturated;
        break;
      }
      // Nothing but banned rewrites is left: egg ends all bans early then.
      int soonest = limits.iterations;
      for (const Allowance& allowance : allowances) {
        if (allowance.banned_until > iteration) {
          soonest = std::min(soonest, allowance.banned_until);
        }
      }
      const int early = soonest - (iteration + 1);
      for (Allowance& allowance : allowances) allowance.banned_until -= std::max(early, 0);
    }
  }
  report.nodes = graph.node_count();
  report.classes = graph.class_count();
  report.seconds = clock() - start;
  return report;
}

}  // namespace hone::egraph
