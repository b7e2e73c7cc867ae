#include "egraph/egraph.h"

#include <gtest/gtest.h>

#include <set>

#include "egraph/random_graph.h"

namespace hone::egraph {
namespace {

TEST(EGraph, ConsesEqualNodes) {
  EGraph graph;
  const ClassId x = graph.Add(0, {});
  const ClassId y = graph.Add(1, {});
  EXPECT_EQ(graph.Add(2, {x, y}), graph.Add(2, {x, y}));
  EXPECT_NE(graph.Add(2, {x, y}), graph.Add(2, {y, x}));
  EXPECT_EQ(graph.node_count(), 4u);
}

TEST(EGraph, MergingOperandsMergesTheirUsers) {
  EGraph graph;
  const ClassId x = graph.Add(0, {});
  const ClassId y = graph.Add(1, {});
  const ClassId fx = graph.Add(2, {x});
  const ClassId fy = graph.Add(2, {y});
  const ClassId gfx = graph.Add(3, {fx});
  const ClassId gfy = graph.Add(3, {fy});
  EXPECT_TRUE(graph.Merge(x, y));
  EXPECT_FALSE(graph.Merge(y, x));
  EXPECT_NE(graph.Find(gfx), graph.Find(gfy));  // not before Rebuild
  graph.Rebuild();
  EXPECT_EQ(graph.Find(fx), graph.Find(fy));
  EXPECT_EQ(graph.Find(gfx), graph.Find(gfy));
  EXPECT_EQ(graph.node_count(), 4u);
  EXPECT_EQ(graph.class_count(), 3u);
}

TEST(EGraph, MayNeedItself) {
  EGraph graph;
  const ClassId x = graph.Add(0, {});
  const ClassId fx = graph.Add(1, {x});
  graph.Merge(x, fx);  // f(x) = x
  graph.Rebuild();
  EXPECT_EQ(graph.class_count(), 1u);
  EXPECT_EQ(graph.Add(1, {fx}), graph.Find(x));
}

// Two data that differ cannot be one; 0 knows nothing.
struct Known : Analysis {
  uint32_t Make(const ENode& node) override { return node.op / 10; }
  bool Join(uint32_t a, uint32_t b, uint32_t* joined) override {
    *joined = a == 0 ? b : a;
    return a == 0 || b == 0 || a == b;
  }
};

TEST(EGraph, AnalysisJoinsAndRefuses) {
  Known known;
  EGraph graph(&known);
  const ClassId nothing = graph.Add(1, {});
  const ClassId one = graph.Add(10, {});
  const ClassId two = graph.Add(20, {});
  EXPECT_TRUE(graph.Merge(nothing, one));
  EXPECT_EQ(graph.Datum(nothing), 1u);
  EXPECT_FALSE(graph.Merge(nothing, two));
  graph.Rebuild();
  EXPECT_NE(graph.Find(one), graph.Find(two));
}

// The oracle: classes as a relation over all pairs of nodes, closed under congruence by trying all.
std::vector<size_t> ClosedByBruteForce(const History& history) {
  const size_t count = history.nodes.size();
  std::vector<size_t> name(count);
  for (size_t i = 0; i < count; ++i) name[i] = i;
  const auto join = [&](size_t a, size_t b) {
    const size_t from = name[a];
    const size_t into = name[b];
    for (size_t& one : name) {
      if (one == from) one = into;
    }
    return from != into;
  };
  for (const auto& [a, b] : history.merges) join(a, b);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = 0; b < a; ++b) {
        const auto& [op_a, children_a] = history.nodes[a];
        const auto& [op_b, children_b] = history.nodes[b];
        bool same = op_a == op_b && children_a.size() == children_b.size();
        for (size_t k = 0; same && k < children_a.size(); ++k) {
          same = name[children_a[k]] == name[children_b[k]];
        }
        if (same && join(a, b)) changed = true;
      }
    }
  }
  return name;
}

TEST(EGraph, ClosureIsThatOfBruteForce) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const History history =
        RandomHistory(rng, 4 + rng.Below(40), rng.Below(12), /*operators=*/2 + rng.Below(6));
    EGraph graph;
    const std::vector<NodeId> made = Play(history, graph, 1 + rng.Below(4));
    const std::vector<size_t> expected = ClosedByBruteForce(history);
    for (size_t a = 0; a < made.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        ASSERT_EQ(graph.ClassOf(made[a]) == graph.ClassOf(made[b]), expected[a] == expected[b])
            << "round " << round << ", nodes " << a << " and " << b;
      }
    }
    // What a clean graph promises of its lists.
    size_t listed = 0;
    for (const ClassId id : graph.Classes()) {
      std::set<std::pair<OpId, std::vector<ClassId>>> seen;
      for (const NodeId node : graph.NodesOf(id)) {
        ++listed;
        EXPECT_EQ(graph.ClassOf(node), id);
        EXPECT_EQ(graph.Canonical(node), node);
        for (const ClassId child : graph.node(node).children) EXPECT_EQ(graph.Find(child), child);
        EXPECT_TRUE(seen.insert({graph.node(node).op, graph.node(node).children}).second);
      }
    }
    EXPECT_EQ(listed, graph.node_count());
    EXPECT_EQ(graph.Classes().size(), graph.class_count());
  }
}

}  // namespace
}  // namespace hone::egraph
