#include "egraph/egraph.h"

#include <algorithm>
#include <utility>

namespace hone::egraph {

size_t EGraph::Hash::operator()(NodeId id) const {
  const ENode& node = (*nodes)[id];
  uint64_t hash = node.op * 0x9e3779b97f4a7c15ull;
  for (const ClassId child : node.children) {
    hash = (hash ^ child) * 0xbf58476d1ce4e5b9ull;
    hash ^= hash >> 31;
  }
  return static_cast<size_t>(hash);
}

bool EGraph::Equal::operator()(NodeId a, NodeId b) const {
  return (*nodes)[a].op == (*nodes)[b].op && (*nodes)[a].children == (*nodes)[b].children;
}

EGraph::EGraph(Analysis* analysis)
    : analysis_(analysis), memo_(64, Hash{&nodes_}, Equal{&nodes_}) {}

ClassId EGraph::Find(ClassId id) const {
  while (parent_[id] != id) {
    parent_[id] = parent_[parent_[id]];
    id = parent_[id];
  }
  return id;
}

NodeId EGraph::Canonical(NodeId id) const {
  while (same_as_[id] != id) id = same_as_[id];
  return id;
}

ClassId EGraph::Add(OpId op, std::vector<ClassId> children) {
  return ClassOf(AddNode(op, std::move(children)));
}

NodeId EGraph::AddNode(OpId op, std::vector<ClassId> children) {
  for (ClassId& child : children) child = Find(child);
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({op, std::move(children)});
  const auto [found, inserted] = memo_.insert(id);
  if (!inserted) {
    nodes_.pop_back();
    return *found;
  }
  const auto class_id = static_cast<ClassId>(parent_.size());
  parent_.push_back(class_id);
  node_class_.push_back(class_id);
  same_as_.push_back(id);
  classes_.emplace_back();
  classes_.back().nodes.push_back(id);
  if (analysis_ != nullptr) classes_.back().datum = analysis_->Make(nodes_[id]);
  for (const ClassId child : nodes_[id].children) classes_[child].parents.push_back(id);
  ++class_count_;
  return id;
}

bool EGraph::Merge(ClassId a, ClassId b) {
  a = Find(a);
  b = Find(b);
  if (a == b) return false;
  uint32_t datum = 0;
  if (analysis_ != nullptr && !analysis_->Join(classes_[a].datum, classes_[b].datum, &datum)) {
    return false;
  }
  // Those with fewer users move: only their users need repair.
  if (classes_[a].parents.size() < classes_[b].parents.size()) std::swap(a, b);
  Class& into = classes_[a];
  Class& from = classes_[b];
  parent_[b] = a;
  into.datum = datum;
  into.nodes.insert(into.nodes.end(), from.nodes.begin(), from.nodes.end());
  into.parents.insert(into.parents.end(), from.parents.begin(), from.parents.end());
  // Repair re-inserts the users under the children's new name; it needs all of them listed here.
  from = Class();
  dirty_.push_back(a);
  stale_.push_back(a);
  --class_count_;
  ++merges_;
  return true;
}

void EGraph::Repair(ClassId id) {
  // What merges meanwhile only adds to the list of the class that stays; it is dirty again then.
  const std::vector<NodeId> users = std::move(classes_[id].parents);
  classes_[id].parents.clear();
  std::vector<NodeId> kept;
  kept.reserve(users.size());
  for (const NodeId user : users) {
    if (same_as_[user] != user) continue;
    const auto known = memo_.find(user);
    if (known != memo_.end() && *known == user) memo_.erase(known);
    for (ClassId& child : nodes_[user].children) child = Find(child);
    const auto [found, inserted] = memo_.insert(user);
    if (inserted) {
      kept.push_back(user);
    } else if (*found != user) {
      same_as_[user] = *found;
      stale_.push_back(node_class_[user]);
      Merge(node_class_[user], node_class_[*found]);
    }
  }
  std::vector<NodeId>& parents = classes_[Find(id)].parents;
  parents.insert(parents.end(), kept.begin(), kept.end());
}

void EGraph::Rebuild() {
  while (!dirty_.empty()) {
    std::vector<ClassId> batch = std::move(dirty_);
    dirty_.clear();
    for (ClassId& id : batch) id = Find(id);
    std::sort(batch.begin(), batch.end());
    batch.erase(std::unique(batch.begin(), batch.end()), batch.end());
    for (const ClassId id : batch) Repair(Find(id));
  }
  for (ClassId& id : stale_) id = Find(id);
  std::sort(stale_.begin(), stale_.end());
  stale_.erase(std::unique(stale_.begin(), stale_.end()), stale_.end());
  for (const ClassId id : stale_) {
    std::vector<NodeId>& nodes = classes_[id].nodes;
    const auto duplicate = [this](NodeId node) { return same_as_[node] != node; };
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), duplicate), nodes.end());
    std::sort(nodes.begin(), nodes.end());
    std::vector<NodeId>& parents = classes_[id].parents;
    parents.erase(std::remove_if(parents.begin(), parents.end(), duplicate), parents.end());
    std::sort(parents.begin(), parents.end());
    parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
  }
  stale_.clear();
}

std::vector<ClassId> EGraph::Classes() const {
  std::vector<ClassId> all;
  all.reserve(class_count_);
  for (ClassId id = 0; id < parent_.size(); ++id) {
    if (parent_[id] == id) all.push_back(id);
  }
  return all;
}

}  // namespace hone::egraph
