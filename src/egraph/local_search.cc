#include "egraph/local_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hone::egraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Trees grow exponentially with depth; comparisons up there no longer matter.
constexpr double kMostTreeCost = 1e300;
// Classes with more users than this are not worth trying to do without.
constexpr size_t kMostUsersToMove = 12;

bool Has(const std::vector<ClassId>& children, ClassId id) {
  return std::find(children.begin(), children.end(), id) != children.end();
}

}  // namespace

LocalSearch::LocalSearch(const ExtractionProblem& problem, std::vector<NodeId> start,
                         size_t most_steps)
    : problem_(problem),
      graph_(*problem.graph),
      most_steps_(most_steps),
      classes_(graph_.Classes()),
      choice_(std::move(start)),
      uses_(graph_.class_ids(), 0),
      rank_(graph_.class_ids(), 0),
      users_(graph_.class_ids()),
      tried_sideways_(graph_.node_ids(), false),
      seen_(graph_.class_ids(), 0) {
  for (const ClassId id : classes_) {
    for (const NodeId node : graph_.NodesOf(id)) {
      for (const ClassId child : graph_.node(node).children) {
        if (users_[child].empty() || users_[child].back() != id) users_[child].push_back(id);
      }
    }
  }
  for (const ClassId root : problem.roots) Acquire(graph_.Find(root));
  slack_ = 1e-12 * std::max(1.0, cost_);
  Rank();
}

void LocalSearch::Plan() {
  std::vector<double> best(graph_.class_ids(), kInfinity);
  for (const ClassId id : classes_) {
    if (Needed(id)) {
      best[id] = 0;
    } else {
      choice_[id] = kNone;
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const ClassId id : classes_) {
      if (Needed(id)) continue;
      for (const NodeId node : graph_.NodesOf(id)) {
        double cost = problem_.cost[node];
        for (const ClassId child : graph_.node(node).children) cost += best[child];
        if (std::isinf(cost)) continue;
        cost = std::min(cost, kMostTreeCost);
        if (choice_[id] == kNone || cost < best[id]) {
          choice_[id] = node;
          best[id] = cost;
          changed = true;
        }
      }
    }
  }
}

void LocalSearch::Rank() {
  uint32_t next = 0;
  ++walk_;
  std::vector<std::pair<ClassId, size_t>> path;
  for (const ClassId root : problem_.roots) {
    path.push_back({graph_.Find(root), 0});
    while (!path.empty()) {
      const ClassId id = path.back().first;
      if (path.back().second == 0 && seen_[id] >= 2 * walk_) {
        path.pop_back();
        continue;
      }
      seen_[id] = 2 * walk_;
      const std::vector<ClassId>& children = graph_.node(choice_[id]).children;
      if (path.back().second < children.size()) {
        const ClassId child = children[path.back().second++];
        if (seen_[child] < 2 * walk_) path.push_back({child, 0});
      } else {
        rank_[id] = next++;
        path.pop_back();
      }
    }
  }
}

void LocalSearch::Acquire(ClassId first) {
  std::vector<ClassId>& stack = stack_;
  const size_t bottom = stack.size();
  stack.push_back(first);
  while (stack.size() > bottom) {
    const ClassId id = stack.back();
    stack.pop_back();
    ++steps_;
    if (uses_[id]++ > 0) continue;
    cost_ += problem_.cost[choice_[id]];
    for (const ClassId child : graph_.node(choice_[id]).children) stack.push_back(child);
  }
}

void LocalSearch::Release(ClassId first) {
  std::vector<ClassId>& stack = stack_;
  const size_t bottom = stack.size();
  stack.push_back(first);
  while (stack.size() > bottom) {
    const ClassId id = stack.back();
    stack.pop_back();
    ++steps_;
    if (--uses_[id] > 0) continue;
    cost_ -= problem_.cost[choice_[id]];
    for (const ClassId child : graph_.node(choice_[id]).children) stack.push_back(child);
  }
}

bool LocalSearch::MakesCycle(ClassId id, NodeId node) {
  ++walk_;
  // Classes on the way down carry 2 * walk_ + 1, finished ones 2 * walk_.
  std::vector<std::pair<ClassId, size_t>> path;
  const auto children_of = [&](ClassId of) -> const std::vector<ClassId>& {
    return graph_.node(of == id ? node : choice_[of]).children;
  };
  path.push_back({id, 0});
  seen_[id] = 2 * walk_ + 1;
  while (!path.empty()) {
    const ClassId at = path.back().first;
    if (path.back().second < children_of(at).size()) {
      const ClassId child = children_of(at)[path.back().second++];
      ++steps_;
      if (seen_[child] == 2 * walk_ + 1) return true;
      if (seen_[child] == 2 * walk_) continue;
      // What is needed already and stands below cannot lead up to `id`.
      if (Needed(child) && rank_[child] < rank_[id]) continue;
      if (choice_[child] == kNone) return true;  // cannot be had at all
      seen_[child] = 2 * walk_ + 1;
      path.push_back({child, 0});
    } else {
      seen_[at] = 2 * walk_;
      path.pop_back();
    }
  }
  return false;
}

void LocalSearch::Choose(ClassId id, NodeId node) {
  const NodeId before = choice_[id];
  choice_[id] = node;
  cost_ += problem_.cost[node] - problem_.cost[before];
  // First the new ones: what both need stays.
  for (const ClassId child : graph_.node(node).children) Acquire(child);
  for (const ClassId child : graph_.node(before).children) Release(child);
}

bool LocalSearch::TryChoose(ClassId id, NodeId node, double most) {
  if (std::isinf(problem_.cost[node]) || MakesCycle(id, node)) return false;
  const NodeId before = choice_[id];
  const double cost_before = cost_;
  Choose(id, node);
  if (cost_ <= most) {
    Rank();
    return true;
  }
  Choose(id, before);
  cost_ = cost_before;
  return false;
}

bool LocalSearch::Improve(ClassId id) {
  bool changed = false;
  for (const NodeId node : graph_.NodesOf(id)) {
    if (Spent()) return changed;
    if (node == choice_[id]) continue;
    if (TryChoose(id, node, cost_ - slack_)) {
      changed = true;
    } else if (!tried_sideways_[node]) {
      // What costs the same may open a way: once each.
      tried_sideways_[node] = true;
      changed |= TryChoose(id, node, cost_ + slack_);
    }
  }
  return changed;
}

NodeId LocalSearch::BestNode(ClassId of, ClassId child, bool with) {
  NodeId best = kNone;
  double best_cost = kInfinity;
  const NodeId now = choice_[of];
  const double cost_now = cost_;
  for (const NodeId node : graph_.NodesOf(of)) {
    if (Spent()) return kNone;
    if (Has(graph_.node(node).children, child) != with || std::isinf(problem_.cost[node])) continue;
    if (MakesCycle(of, node)) continue;
    Choose(of, node);
    if (cost_ < best_cost) {
      best_cost = cost_;
      best = node;
    }
    Choose(of, now);
    cost_ = cost_now;
  }
  return best;
}

void LocalSearch::Undo(const std::vector<Switch>& done, double cost) {
  for (auto undo = done.rbegin(); undo != done.rend(); ++undo) Choose(undo->of, undo->from);
  cost_ = cost;
  if (!done.empty()) Rank();
}

bool LocalSearch::Eliminate(ClassId id) {
  std::vector<ClassId> users;
  for (const ClassId user : users_[id]) {
    if (Needed(user) && Has(graph_.node(choice_[user]).children, id)) users.push_back(user);
    if (users.size() > kMostUsersToMove) return false;
  }
  if (users.size() < 2) return false;  // Improve has tried it
  const double cost_before = cost_;
  std::vector<Switch> done;
  bool possible = true;
  for (const ClassId user : users) {
    if (!Needed(user)) continue;  // an earlier switch has freed it
    const NodeId best = BestNode(user, id, /*with=*/false);
    possible = best != kNone;
    if (!possible) break;
    done.push_back({user, choice_[user]});
    Choose(user, best);
    Rank();
  }
  if (possible && cost_ < cost_before - slack_) return true;
  Undo(done, cost_before);
  return false;
}

bool LocalSearch::Introduce(ClassId id) {
  if (choice_[id] == kNone) return false;
  std::vector<ClassId> users;
  for (const ClassId user : users_[id]) {
    if (Needed(user)) users.push_back(user);
    if (users.size() > kMostUsersToMove) return false;
  }
  if (users.size() < 2) return false;
  const double cost_before = cost_;
  std::vector<Switch> done;
  for (const ClassId user : users) {
    if (!Needed(user)) continue;
    const NodeId best = BestNode(user, id, /*with=*/true);
    if (best == kNone || best == choice_[user]) continue;
    const NodeId now = choice_[user];
    const double cost_now = cost_;
    Choose(user, best);
    // The first one pays for the class; the others must gain.
    if (!done.empty() && cost_ > cost_now + slack_) {
      Choose(user, now);
      cost_ = cost_now;
      continue;
    }
    Rank();
    done.push_back({user, now});
  }
  if (done.size() >= 2 && cost_ < cost_before - slack_) return true;
  Undo(done, cost_before);
  return false;
}

bool LocalSearch::Sweep() {
  if (Spent()) return false;
  Plan();
  bool changed = false;
  // Users first: what they no longer need is not worth a look.
  std::vector<ClassId> order;
  for (const ClassId id : classes_) {
    if (Needed(id)) order.push_back(id);
  }
  std::sort(order.begin(), order.end(),
            [this](ClassId a, ClassId b) { return rank_[a] > rank_[b]; });
  for (const ClassId id : order) {
    if (Needed(id)) changed |= Improve(id);
    if (Needed(id)) changed |= Eliminate(id);
    if (Spent()) return changed;
  }
  for (const ClassId id : classes_) {
    if (!Needed(id)) changed |= Introduce(id);
    if (Spent()) return changed;
  }
  return changed;
}

void LocalSearch::RevertTo(const std::vector<NodeId>& incumbent) {
  for (bool changed = true; changed && !Spent();) {
    changed = false;
    for (const ClassId id : classes_) {
      if (!Needed(id) || incumbent[id] == kNone || incumbent[id] == choice_[id]) continue;
      changed |= TryChoose(id, incumbent[id], cost_ + slack_ * 1e-3);
    }
  }
}

std::vector<NodeId> LocalSearch::Choice() const {
  std::vector<NodeId> choice(graph_.class_ids(), kNone);
  for (const ClassId id : classes_) {
    if (Needed(id)) choice[id] = choice_[id];
  }
  return choice;
}

}  // namespace hone::egraph
