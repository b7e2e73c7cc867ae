#include "egraph/saturate.h"

#include <gtest/gtest.h>

#include "egraph/extract.h"

namespace hone::egraph {
namespace {

constexpr OpId kPlus = 0;
constexpr OpId kFirstLeaf = 10;

// a + b = b + a
class Commute : public Rewrite {
 public:
  void Search(const EGraph& graph, size_t most, std::vector<Match>* matches) override {
    for (const ClassId id : graph.Classes()) {
      for (const NodeId node : graph.NodesOf(id)) {
        if (graph.node(node).op != kPlus || matches->size() >= most) continue;
        matches->push_back({id, graph.node(node).children[0], graph.node(node).children[1]});
      }
    }
  }
  bool Apply(EGraph& graph, const Match& match) override {
    return graph.Merge(match[0], graph.Add(kPlus, {match[2], match[1]}));
  }
};

// (a + b) + c = a + (b + c)
class Associate : public Rewrite {
 public:
  void Search(const EGraph& graph, size_t most, std::vector<Match>* matches) override {
    for (const ClassId id : graph.Classes()) {
      for (const NodeId outer : graph.NodesOf(id)) {
        if (graph.node(outer).op != kPlus) continue;
        const ClassId left = graph.node(outer).children[0];
        for (const NodeId inner : graph.NodesOf(left)) {
          if (graph.node(inner).op != kPlus || matches->size() >= most) continue;
          matches->push_back({id, graph.node(inner).children[0], graph.node(inner).children[1],
                              graph.node(outer).children[1]});
        }
      }
    }
  }
  bool Apply(EGraph& graph, const Match& match) override {
    const ClassId right = graph.Add(kPlus, {match[2], match[3]});
    return graph.Merge(match[0], graph.Add(kPlus, {match[1], right}));
  }
};

// ((a + b) + c) + … over `leaves` leaves, in this order or backwards.
ClassId Sum(EGraph& graph, int leaves, bool backwards) {
  ClassId sum = kNone;
  for (int i = 0; i < leaves; ++i) {
    const int number = backwards ? leaves - 1 - i : i;
    const ClassId leaf = graph.Add(kFirstLeaf + static_cast<OpId>(number), {});
    sum = sum == kNone ? leaf : graph.Add(kPlus, {sum, leaf});
  }
  return sum;
}

double NoTime() { return 0; }

TEST(Saturate, SumsInAnyOrderAreEqual) {
  EGraph graph;
  const ClassId forwards = Sum(graph, 5, false);
  const ClassId backwards = Sum(graph, 5, true);
  Commute commute;
  Associate associate;
  Limits limits;
  limits.iterations = 50;
  const RunReport report = Saturate(graph, {&commute, &associate}, limits, NoTime);
  EXPECT_EQ(report.stop, StopReason::kSaturated);
  EXPECT_EQ(graph.Find(forwards), graph.Find(backwards));
  // A class for every non-empty subset of five, and in it a node for every ordered split in two.
  EXPECT_EQ(graph.class_count(), 31u);
  EXPECT_EQ(graph.node_count(), 5u + 180u);
  EXPECT_EQ(report.nodes, graph.node_count());
}

TEST(Saturate, ABannedRewriteComesBack) {
  EGraph graph;
  const ClassId forwards = Sum(graph, 5, false);
  const ClassId backwards = Sum(graph, 5, true);
  Commute commute;
  Associate associate;
  Limits limits;
  limits.iterations = 200;
  limits.match_limit = 4;  // banned in the first iteration
  const RunReport report = Saturate(graph, {&commute, &associate}, limits, NoTime);
  EXPECT_EQ(report.stop, StopReason::kSaturated);
  EXPECT_EQ(graph.Find(forwards), graph.Find(backwards));
  EXPECT_EQ(graph.class_count(), 31u);
}

TEST(Saturate, EveryLimitIsKept) {
  Commute commute;
  Associate associate;
  Limits limits;
  limits.nodes = 100;
  {
    EGraph graph;
    Sum(graph, 10, false);
    const RunReport report = Saturate(graph, {&commute, &associate}, limits, NoTime);
    EXPECT_EQ(report.stop, StopReason::kNodes);
    EXPECT_LE(report.nodes, 102u);  // a match adds at most two
    EXPECT_TRUE(graph.clean());
  }
  limits.nodes = 100000;
  limits.iterations = 2;
  {
    EGraph graph;
    Sum(graph, 10, false);
    const RunReport report = Saturate(graph, {&commute, &associate}, limits, NoTime);
    EXPECT_EQ(report.stop, StopReason::kIterations);
    EXPECT_EQ(report.iterations, 2);
  }
  limits.iterations = 100;
  limits.seconds = 5;
  {
    EGraph graph;
    Sum(graph, 10, false);
    double now = 0;
    const RunReport report =
        Saturate(graph, {&commute, &associate}, limits, [&now] { return now += 0.125; });
    EXPECT_EQ(report.stop, StopReason::kTime);
    EXPECT_TRUE(graph.clean());
  }
}

TEST(Saturate, TheSameTwice) {
  std::vector<NodeId> choices[2];
  size_t nodes[2];
  for (int i = 0; i < 2; ++i) {
    EGraph graph;
    const ClassId root = Sum(graph, 9, false);
    Commute commute;
    Associate associate;
    Limits limits;
    limits.nodes = 700;
    Saturate(graph, {&commute, &associate}, limits, NoTime);
    ExtractionProblem problem;
    problem.graph = &graph;
    problem.roots = {graph.Find(root)};
    for (size_t k = 0; k < graph.node_ids(); ++k) {
      problem.cost.push_back(static_cast<double>((k * 7919) % 13));
    }
    choices[i] = ExtractDag(problem).choice;
    nodes[i] = graph.node_ids();
  }
  EXPECT_EQ(nodes[0], nodes[1]);
  EXPECT_EQ(choices[0], choices[1]);
}

}  // namespace
}  // namespace hone::egraph
