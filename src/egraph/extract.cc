#include "egraph/extract.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "egraph/local_search.h"

namespace hone::egraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostTreeCost = 1e300;

// Keeps what the roots need.
std::vector<NodeId> Needed(const ExtractionProblem& problem, const std::vector<NodeId>& choice) {
  std::vector<NodeId> needed(problem.graph->class_ids(), kNone);
  std::vector<ClassId> stack;
  for (const ClassId root : problem.roots) stack.push_back(problem.graph->Find(root));
  while (!stack.empty()) {
    const ClassId id = stack.back();
    stack.pop_back();
    if (needed[id] != kNone || choice[id] == kNone) continue;
    needed[id] = choice[id];
    for (const ClassId child : problem.graph->node(choice[id]).children) stack.push_back(child);
  }
  return needed;
}

// Bottom up to a fixed point; the incumbent's classes cost nothing where `incumbent_is_free`. Only
// what is strictly cheaper replaces a choice, so there are no cycles even among nodes of cost 0: of
// a cycle, the class that was set last would have been cheaper than itself.
std::vector<NodeId> CheapestTrees(const ExtractionProblem& problem, bool incumbent_is_free) {
  const EGraph& graph = *problem.graph;
  const std::vector<ClassId> classes = graph.Classes();
  std::vector<double> best(graph.class_ids(), kInfinity);
  std::vector<NodeId> choice(graph.class_ids(), kNone);
  for (bool changed = true; changed;) {
    changed = false;
    for (const ClassId id : classes) {
      for (const NodeId node : graph.NodesOf(id)) {
        const bool free = incumbent_is_free && problem.incumbent[id] == node;
        double cost = free ? 0 : problem.cost[node];
        for (const ClassId child : graph.node(node).children) cost += best[child];
        if (std::isinf(cost)) continue;
        cost = std::min(cost, kMostTreeCost);
        if (choice[id] == kNone || cost < best[id]) {
          best[id] = cost;
          choice[id] = node;
          changed = true;
        }
      }
    }
  }
  return choice;
}

}  // namespace

double DagCost(const ExtractionProblem& problem, const std::vector<NodeId>& choice) {
  const EGraph& graph = *problem.graph;
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(graph.class_ids(), kNew);
  std::vector<std::pair<ClassId, size_t>> path;
  double cost = 0;
  for (const ClassId root : problem.roots) {
    if (state[graph.Find(root)] == kNew) path.push_back({graph.Find(root), 0});
    while (!path.empty()) {
      const ClassId id = path.back().first;
      if (state[id] == kNew) {
        if (choice[id] == kNone) return kInfinity;
        state[id] = kOpen;
        cost += problem.cost[choice[id]];
      }
      const std::vector<ClassId>& children = graph.node(choice[id]).children;
      if (path.back().second < children.size()) {
        const ClassId child = children[path.back().second++];
        if (state[child] == kOpen) return kInfinity;
        if (state[child] == kNew) path.push_back({child, 0});
      } else {
        state[id] = kDone;
        path.pop_back();
      }
    }
  }
  return cost;
}

Extraction ExtractTrees(const ExtractionProblem& problem) {
  Extraction extraction;
  extraction.choice = Needed(problem, CheapestTrees(problem, false));
  extraction.cost = DagCost(problem, extraction.choice);
  return extraction;
}

Extraction ExtractDag(const ExtractionProblem& problem, const LocalSearchOptions& options) {
  const size_t classes = problem.graph->class_ids();
  const bool has_incumbent = problem.incumbent.size() == classes;
  const std::vector<NodeId> trees = CheapestTrees(problem, false);
  std::vector<std::vector<NodeId>> starts;
  Extraction best;
  best.choice.assign(classes, kNone);
  best.cost = kInfinity;
  if (has_incumbent) {
    best.choice = Needed(problem, problem.incumbent);
    best.cost = DagCost(problem, best.choice);
    // Classes that the incumbent does not need get some choice to begin with.
    std::vector<NodeId> start = best.choice;
    for (size_t id = 0; id < classes; ++id) {
      if (start[id] == kNone) start[id] = trees[id];
    }
    if (!std::isinf(best.cost)) starts.push_back(std::move(start));
    starts.push_back(CheapestTrees(problem, true));
  }
  starts.push_back(trees);
  for (const std::vector<NodeId>& start : starts) {
    if (std::isinf(DagCost(problem, start))) continue;
    LocalSearch search(problem, start, options.most_steps / starts.size());
    for (int sweep = 0; sweep < options.sweeps && search.Sweep(); ++sweep) {
    }
    if (has_incumbent) search.RevertTo(problem.incumbent);
    std::vector<NodeId> choice = search.Choice();
    // Counted afresh: the search's own sum has rounding in it, and its care about cycles is
    // checked.
    const double cost = DagCost(problem, choice);
    if (cost < best.cost) {
      best.cost = cost;
      best.choice = std::move(choice);
    }
  }
  return best;
}

}  // namespace hone::egraph
