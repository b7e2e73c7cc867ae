// An e-graph: many ways to write a value, kept at once. Knows nothing of what its operators mean.
//
// Willsey et al., "egg: Fast and Extensible Equality Saturation", POPL 2021: hash-consed nodes,
// union-find over classes, congruence restored by deferred rebuilding (section 3), and a datum per
// class (section 4). Ids are given in order of creation and nothing is iterated in hash order, so
// the same calls give the same graph.
#ifndef HONE_EGRAPH_EGRAPH_H_
#define HONE_EGRAPH_EGRAPH_H_

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace hone::egraph {

using OpId = uint32_t;     // an operator with all its attributes, interned by the client
using ClassId = uint32_t;  // of values known to be equal
using NodeId = uint32_t;   // an operator over classes
constexpr uint32_t kNone = 0xffffffffu;

struct ENode {
  OpId op = 0;
  std::vector<ClassId> children;
};

// What is known of a class, as one word: say the number of a shape. Nodes that are equal by
// congruence must have equal data.
class Analysis {
 public:
  virtual ~Analysis() = default;
  // The datum of a node's class when the node is new.
  virtual uint32_t Make(const ENode& node) = 0;
  // The datum of two classes made one; false where they cannot be one.
  virtual bool Join(uint32_t a, uint32_t b, uint32_t* joined) = 0;
};

class EGraph {
 public:
  // `analysis` may be null: then every datum is 0. Not owned.
  explicit EGraph(Analysis* analysis = nullptr);
  EGraph(const EGraph&) = delete;
  EGraph& operator=(const EGraph&) = delete;

  // The class of this node, made if it is new.
  ClassId Add(OpId op, std::vector<ClassId> children);
  // The same, but the node: what Add made or found.
  NodeId AddNode(OpId op, std::vector<ClassId> children);
  // Makes two classes one. False where they are already, or where the analysis refuses.
  bool Merge(ClassId a, ClassId b);
  // Restores congruence after merges. Matching and extraction need it; adding does not.
  void Rebuild();
  bool clean() const { return dirty_.empty(); }

  ClassId Find(ClassId id) const;
  // The class of a node, and the node that stands for it: duplicates by congruence are dropped.
  ClassId ClassOf(NodeId id) const { return Find(node_class_[id]); }
  NodeId Canonical(NodeId id) const;
  // Children are canonical after Rebuild.
  const ENode& node(NodeId id) const { return nodes_[id]; }
  // Of a canonical class, after Rebuild: no duplicates, in order of creation.
  const std::vector<NodeId>& NodesOf(ClassId id) const { return classes_[id].nodes; }
  uint32_t Datum(ClassId id) const { return classes_[Find(id)].datum; }

  // All canonical classes, in ascending order.
  std::vector<ClassId> Classes() const;
  // Ids handed out so far: the size of a vector by NodeId or ClassId.
  size_t node_ids() const { return nodes_.size(); }
  size_t class_ids() const { return parent_.size(); }
  // Distinct nodes and classes.
  size_t node_count() const { return memo_.size(); }
  size_t class_count() const { return class_count_; }
  // Grows with every merge.
  size_t merges() const { return merges_; }

 private:
  struct Class {
    std::vector<NodeId> nodes;
    std::vector<NodeId> parents;  // nodes that have it as a child; may hold duplicates
    uint32_t datum = 0;
  };
  // The memo holds node ids and hashes what they stand for.
  struct Hash {
    const std::vector<ENode>* nodes;
    size_t operator()(NodeId id) const;
  };
  struct Equal {
    const std::vector<ENode>* nodes;
    bool operator()(NodeId a, NodeId b) const;
  };

  void Repair(ClassId id);

  Analysis* const analysis_;
  std::vector<ENode> nodes_;
  std::vector<ClassId> node_class_;
  std::vector<NodeId> same_as_;  // itself, or the node it became equal to
  std::vector<Class> classes_;
  mutable std::vector<ClassId> parent_;
  std::unordered_set<NodeId, Hash, Equal> memo_;
  std::vector<ClassId> dirty_;
  std::vector<ClassId> stale_;  // classes whose list of nodes may hold duplicates
  size_t class_count_ = 0;
  size_t merges_ = 0;
};

}  // namespace hone::egraph

#endif  // HONE_EGRAPH_EGRAPH_H_
