#include "search/state_graph.h"

#include <algorithm>

namespace hone {
namespace {

// States whose arrays are kept until an opinion is asked for: each may be megabytes.
constexpr size_t kArraysKept = 256;

}  // namespace

StateGraph::StateGraph(const SearchProblem& problem)
    : problem_(problem), records_(problem.actions.size()) {
  for (size_t i = 0; i < problem.actions.size(); ++i) index_.emplace(problem.actions[i], i);
  State& root = states_.emplace_back();
  root.value = problem.initial_value;
  root.unknown = problem.actions.size();
  if (problem.prior != nullptr) root.observed = problem.initial_observed;
  nodes_.emplace(problem.initial_state, kRoot);
}

std::vector<StateGraph::Node> StateGraph::Learn(const Trial& trial) {
  std::vector<Node> path;
  Node here = kRoot;
  for (const ActionResult& result : trial.results) {
    const size_t action = Index(result.action);
    Node next = here;
    if (result.changed && !result.failed) next = Meet(result, here, action);
    if (problem_.prior != nullptr) Observe(next, result.observed);
    // Of a transition that was seen to lead to two states the first counts, as in the
    // environment's own table.
    if (action < records_.size() && !IsNode(Next(here, action)) && Next(here, action) != kIdle) {
      Record& record = records_[action];
      record.taken += 1;
      record.changed += next != here;
      record.lowered += value(next) < value(here);
      Transition(here, action) = next == here ? kIdle : next;
    } else if (action < records_.size() && result.failed) {
      Transition(here, action) = kIdle;  // what was seen of it before was not well formed
    }
    here = next;
    path.push_back(here);
  }
  return path;
}

StateGraph::Node StateGraph::Meet(const ActionResult& result, Node from, size_t action) {
  const auto [found, news] = nodes_.emplace(result.state, static_cast<Node>(states_.size()));
  const Node node = found->second;
  if (node == from) return node;
  if (news) {
    State& state = states_.emplace_back();
    state.value = result.value;
    state.unknown = problem_.actions.size();
    if (action < records_.size()) {
      state.parent = from;
      state.by = action;
    }
  }
  State& state = states_[node];
  if (news || states_[from].way.size() + 1 < state.way.size()) {
    state.way = states_[from].way;
    state.way.push_back(result.action);
  }
  const State& best = states_[best_];
  if (state.value < best.value ||
      (state.value == best.value && state.way.size() < best.way.size())) {
    best_ = node;
  }
  return node;
}

void StateGraph::Observe(Node node, const Observed& observed) {
  State& state = states_[node];
  if (state.opinion) return;
  const bool bare = state.observed.opcodes.empty() && state.observed.arrays == nullptr;
  if (!bare && (observed.arrays == nullptr || state.observed.arrays != nullptr)) return;
  state.observed = observed;
  if (observed.arrays == nullptr) return;
  with_arrays_.push_back(node);
  if (with_arrays_.size() > kArraysKept) {
    states_[with_arrays_.front()].observed.arrays = nullptr;
    with_arrays_.pop_front();
  }
}

StateGraph::Node& StateGraph::Transition(Node node, size_t action) {
  State& state = states_[node];
  if (state.next.empty()) state.next.assign(records_.size(), kUnknown);
  if (state.next[action] == kUnknown) --state.unknown;  // whoever asks for it sets it
  return state.next[action];
}

StateGraph::Node StateGraph::Next(Node node, size_t action) const {
  const State& state = states_[node];
  return state.next.empty() ? kUnknown : state.next[action];
}

void StateGraph::Settle(Node node, size_t action) {
  if (Next(node, action) == kPending) Transition(node, action) = kIdle;
}

StateGraph::Node StateGraph::Walk(const Sequence& sequence) const {
  Node here = kRoot;
  for (Action action : sequence) {
    const size_t index = Index(action);
    if (index == records_.size()) break;
    const Node next = Next(here, index);
    if (next == kIdle) continue;
    if (!IsNode(next)) break;
    here = next;
  }
  return here;
}

size_t StateGraph::Index(Action action) const {
  const auto found = index_.find(action);
  return found == index_.end() ? records_.size() : found->second;
}

Sequence StateGraph::Extended(Node node, size_t action) const {
  Sequence sequence = way(node);
  sequence.push_back(problem_.actions[action]);
  return sequence;
}

std::optional<std::pair<StateGraph::Node, size_t>> StateGraph::AnyUnknown() {
  while (first_open_ < states_.size() && unknown(first_open_) == 0) ++first_open_;
  for (Node node = first_open_; node < states_.size(); ++node) {
    if (unknown(node) == 0 || full(node)) continue;
    size_t likeliest = records_.size();
    const std::vector<double> promise = Promise(node);
    for (size_t i = 0; i < records_.size(); ++i) {
      if (Next(node, i) != kUnknown) continue;
      if (likeliest == records_.size() || promise[i] > promise[likeliest]) likeliest = i;
    }
    return std::make_pair(node, likeliest);
  }
  return std::nullopt;
}

const Prior::Opinion* StateGraph::Opinion(Node node) {
  if (problem_.prior == nullptr) return nullptr;
  State& state = states_[node];
  if (!state.opinion) {
    if (problem_.prior->NeedsArrays() && state.observed.arrays == nullptr) return nullptr;
    state.opinion = problem_.prior->Of(state.observed);
    state.observed = {};
  }
  return &*state.opinion;
}

std::vector<double> StateGraph::Promise(Node node) {
  const Prior::Opinion* opinion = Opinion(node);
  std::vector<double> promise(records_.size());
  for (size_t i = 0; i < promise.size(); ++i) {
    if (Next(node, i) == kIdle) continue;
    promise[i] = opinion != nullptr ? opinion->probabilities[i] : Evidence(states_[node], i);
  }
  return promise;
}

double StateGraph::Evidence(const State& state, size_t action) const {
  const Record& record = records_[action];
  const double weight = 0.02 + 0.3 * (record.changed + 0.5) / (record.taken + 1) +
                        (record.lowered + 0.5) / (record.taken + 1);
  if (state.parent == kUnknown) return weight;
  // Most passes run to their own fixed point, and most of what was (not) to be done in the state
  // before is still (not) to be done here.
  if (action == state.by) return 0.2 * weight;
  const Node sibling = Next(state.parent, action);
  if (sibling == kIdle) return 0.35 * weight;
  if (IsNode(sibling) && value(sibling) < value(state.parent)) return 3 * weight;
  return weight;
}

}  // namespace hone
