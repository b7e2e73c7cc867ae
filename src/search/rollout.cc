#include "search/rollout.h"

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

constexpr size_t kLongest = 64;  // actions of a walk, idle ones left out

}  // namespace

Rollout::Rollout(const SearchProblem& problem, StateGraph& graph, StateGraph::Node from,
                 size_t steps, double temperature, size_t patience)
    : problem_(problem),
      graph_(graph),
      here_(from),
      passed_{from},
      steps_(steps),
      temperature_(temperature),
      patience_(patience),
      lowest_(graph.value(from)) {}

std::optional<Sequence> Rollout::Ask(Rng& rng) {
  const size_t longest = std::min(kLongest, problem_.longest);
  while (steps_ < longest && stale_ < patience_ && !graph_.full(here_)) {
    if (problem_.prior != nullptr && graph_.Opinion(here_) == nullptr && !looked_ &&
        !graph_.way(here_).empty()) {
      looked_ = waits_ = true;
      return graph_.way(here_);
    }
    const size_t action = Choose(rng);
    if (action == problem_.actions.size()) break;
    const StateGraph::Node next = graph_.Next(here_, action);
    if (StateGraph::IsNode(next)) {
      Move(next);
      continue;
    }
    graph_.Expect(here_, action);
    action_ = action;
    waits_ = true;
    return graph_.Extended(here_, action);
  }
  return std::nullopt;
}

void Rollout::Answered() {
  waits_ = false;
  if (!action_) return;
  graph_.Settle(here_, *action_);
  const StateGraph::Node next = graph_.Next(here_, *action_);
  action_.reset();
  if (StateGraph::IsNode(next) &&
      std::find(passed_.begin(), passed_.end(), next) == passed_.end()) {
    Move(next);
  } else {
    ++stale_;
  }
}

size_t Rollout::Choose(Rng& rng) {
  const size_t all = problem_.actions.size();
  const Prior::Opinion* opinion = graph_.Opinion(here_);
  std::vector<double> weights(all);
  size_t likeliest = all;
  for (size_t i = 0; i < all; ++i) {
    const StateGraph::Node next = graph_.Next(here_, i);
    // What another walk waits for is left to it.
    if (next == StateGraph::kIdle || next == StateGraph::kPending) continue;
    if (StateGraph::IsNode(next) &&
        std::find(passed_.begin(), passed_.end(), next) != passed_.end()) {
      continue;
    }
    weights[i] = opinion != nullptr ? opinion->probabilities[i] : 1;
    if (weights[i] <= 0) continue;
    if (likeliest == all || weights[i] > weights[likeliest]) likeliest = i;
  }
  if (likeliest == all || temperature_ == 0) return likeliest;
  const double highest = weights[likeliest];
  for (double& weight : weights) weight = std::pow(weight / highest, 1 / temperature_);
  return rng.Weighted(weights);
}

void Rollout::Move(StateGraph::Node next) {
  here_ = next;
  passed_.push_back(next);
  ++steps_;
  ++stale_;
  looked_ = false;
  if (graph_.value(next) < lowest_) {
    lowest_ = graph_.value(next);
    stale_ = 0;
  }
}

}  // namespace hone
