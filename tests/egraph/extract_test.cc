#include "egraph/extract.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "egraph/random_graph.h"

namespace hone::egraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums what the roots need, by recursion; shares no code with DagCost.
double CostFrom(const ExtractionProblem& problem, const std::map<ClassId, NodeId>& choice,
                ClassId id, std::map<ClassId, int>& state) {
  if (state[id] == 2) return 0;
  if (state[id] == 1) return kInfinity;
  state[id] = 1;
  const NodeId node = choice.at(id);
  double cost = problem.cost[node];
  for (const ClassId child : problem.graph->node(node).children) {
    cost += CostFrom(problem, choice, child, state);
  }
  state[id] = 2;
  return cost;
}

double OracleCost(const ExtractionProblem& problem, const std::map<ClassId, NodeId>& choice) {
  std::map<ClassId, int> state;
  double cost = 0;
  for (const ClassId root : problem.roots) {
    cost += CostFrom(problem, choice, problem.graph->Find(root), state);
  }
  return cost;
}

// The least over all choices of one node for every class; -1 where these are too many.
double Optimum(const ExtractionProblem& problem) {
  const std::vector<ClassId> classes = problem.graph->Classes();
  double choices = 1;
  for (const ClassId id : classes) {
    choices *= static_cast<double>(problem.graph->NodesOf(id).size());
  }
  if (choices > 20000) return -1;
  std::map<ClassId, NodeId> choice;
  std::vector<size_t> digits(classes.size(), 0);
  double best = kInfinity;
  while (true) {
    for (size_t i = 0; i < classes.size(); ++i) {
      choice[classes[i]] = problem.graph->NodesOf(classes[i])[digits[i]];
    }
    best = std::min(best, OracleCost(problem, choice));
    size_t at = 0;
    while (at < digits.size() && ++digits[at] == problem.graph->NodesOf(classes[at]).size()) {
      digits[at++] = 0;
    }
    if (at == digits.size()) return best;
  }
}

// Of every class the node that was made first. What it is made of was made before it, so there is
// no cycle.
std::vector<NodeId> Oldest(const EGraph& graph) {
  std::vector<NodeId> choice(graph.class_ids(), kNone);
  for (NodeId node = 0; node < graph.node_ids(); ++node) {
    NodeId& chosen = choice[graph.ClassOf(node)];
    if (chosen == kNone) chosen = graph.Canonical(node);
  }
  return choice;
}

TEST(Extract, WhatIsSharedIsPaidOnce) {
  // Two users can each be had from a leaf of their own (cost 3), or both from one of cost 4.
  EGraph graph;
  const ClassId shared = graph.Add(0, {});
  const ClassId a = graph.Add(1, {shared});
  const ClassId b = graph.Add(2, {shared});
  const NodeId own_a = graph.AddNode(3, {});
  const NodeId own_b = graph.AddNode(4, {});
  const ClassId root = graph.Add(5, {a, b});
  graph.Merge(a, graph.ClassOf(own_a));
  graph.Merge(b, graph.ClassOf(own_b));
  graph.Rebuild();
  ExtractionProblem problem;
  problem.graph = &graph;
  problem.roots = {root};
  problem.cost.assign(graph.node_ids(), 0);
  problem.cost[graph.NodesOf(graph.Find(shared)).front()] = 4;
  problem.cost[own_a] = 3;
  problem.cost[own_b] = 3;
  EXPECT_EQ(ExtractTrees(problem).cost, 6);
  EXPECT_EQ(ExtractDag(problem).cost, 4);
  problem.incumbent = Oldest(graph);
  EXPECT_EQ(ExtractDag(problem).cost, 4);
}

TEST(Extract, ASharedOperandGoesWhenAllItsUsersCanDoWithoutIt) {
  // Each user alone saves nothing by changing.
  EGraph graph;
  const ClassId x = graph.Add(0, {});
  const ClassId transposed = graph.Add(1, {x});
  std::vector<ClassId> users;
  for (OpId i = 0; i < 4; ++i) {
    users.push_back(graph.Add(2 + i, {transposed}));
    graph.Merge(users.back(), graph.Add(10 + i, {x}));
  }
  const ClassId root = graph.Add(20, users);
  graph.Rebuild();
  ExtractionProblem problem;
  problem.graph = &graph;
  problem.roots = {root};
  problem.cost.assign(graph.node_ids(), 1);
  problem.incumbent = Oldest(graph);
  EXPECT_EQ(DagCost(problem, problem.incumbent), 7);
  EXPECT_EQ(ExtractDag(problem).cost, 6);
}

TEST(Extract, NothingChangesWithoutAGain) {
  EGraph graph;
  const ClassId x = graph.Add(0, {});
  const ClassId y = graph.Add(1, {});
  const NodeId sum = graph.AddNode(2, {x, y});
  graph.Merge(graph.ClassOf(sum), graph.Add(2, {y, x}));
  graph.Rebuild();
  ExtractionProblem problem;
  problem.graph = &graph;
  problem.roots = {graph.ClassOf(sum)};
  problem.cost.assign(graph.node_ids(), 1);
  problem.incumbent = Oldest(graph);
  const Extraction extraction = ExtractDag(problem);
  EXPECT_EQ(extraction.choice[graph.ClassOf(sum)], sum);
}

TEST(Extract, NeverThroughACycle) {
  EGraph graph;
  const ClassId x = graph.Add(0, {});
  graph.Merge(x, graph.Add(1, {x}));  // f(x) = x, and f costs nothing
  graph.Rebuild();
  ExtractionProblem problem;
  problem.graph = &graph;
  problem.roots = {graph.Find(x)};
  problem.cost = {5, 0};
  EXPECT_EQ(ExtractTrees(problem).cost, 5);
  EXPECT_EQ(ExtractDag(problem).cost, 5);
  problem.cost = {kInfinity, 0};
  EXPECT_EQ(ExtractDag(problem).cost, kInfinity);
}

TEST(Extract, BetweenTheOptimumAndTheIncumbent) {
  Rng rng(2);
  int tried = 0;
  int optimal = 0;
  int tree_optimal = 0;
  for (int round = 0; round < 2000; ++round) {
    const History history =
        RandomHistory(rng, 6 + rng.Below(20), 2 + rng.Below(8), /*operators=*/12);
    EGraph graph;
    const std::vector<NodeId> made = Play(history, graph, 1);
    ExtractionProblem problem;
    problem.graph = &graph;
    problem.roots = {graph.ClassOf(made.back()), graph.ClassOf(made[made.size() / 2])};
    for (size_t i = 0; i < graph.node_ids(); ++i) {
      problem.cost.push_back(static_cast<double>(rng.Below(4)));
    }
    problem.incumbent = Oldest(graph);
    const double incumbent = DagCost(problem, problem.incumbent);
    ASSERT_FALSE(std::isinf(incumbent));
    const double optimum = Optimum(problem);
    if (optimum < 0) continue;
    const Extraction extraction = ExtractDag(problem);
    std::map<ClassId, NodeId> choice;
    for (const ClassId id : graph.Classes()) {
      if (extraction.choice[id] != kNone) choice[id] = extraction.choice[id];
    }
    ASSERT_EQ(OracleCost(problem, choice), extraction.cost);
    ASSERT_LE(extraction.cost, incumbent);
    ASSERT_GE(extraction.cost, optimum);
    const Extraction again = ExtractDag(problem);
    ASSERT_EQ(again.choice, extraction.choice);
    ++tried;
    optimal += extraction.cost == optimum;
    tree_optimal += ExtractTrees(problem).cost == optimum;
  }
  RecordProperty("tried", tried);
  RecordProperty("optimal", optimal);
  RecordProperty("optimal_by_trees", tree_optimal);
  EXPECT_GT(tried, 500);
  EXPECT_GT(optimal, tree_optimal);
  EXPECT_GE(optimal, tried * 98 / 100);
}

}  // namespace
}  // namespace hone::egraph
