#include "search/edits.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace hone {
namespace {

constexpr size_t kCleaners = 6;  // actions in the clean-up

size_t Choose(const std::vector<double>& weights, double chance) {
  double left = chance * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (size_t i = 0; i < weights.size(); ++i) {
    if ((left -= weights[i]) < 0) return i;
  }
  return weights.size() - 1;
}

}  // namespace

Edits::Edits(const SearchProblem& problem, StateGraph& graph, double late, uint64_t seed)
    : problem_(problem), graph_(graph), late_(late), rng_(seed), records_(problem.actions.size()) {
  for (size_t i = 0; i < problem_.actions.size(); ++i) index_[problem_.actions[i]] = i;
}

void Edits::Learn(const Trial& trial) {
  double value = problem_.initial_value;
  for (const ActionResult& result : trial.results) {
    const auto found = index_.find(result.action);
    if (found == index_.end()) continue;
    Record& record = records_[found->second];
    record.taken += 1;
    record.changed += result.changed;
    record.lowered += result.value < value;
    value = result.value;
  }
}

void Edits::Credit(const Sequence& tried) {
  for (Action action : tried) records_[index_.at(action)].credited += 1;
}

// What never does anything is tried now and then only.
double Edits::Weight(const Record& record) {
  return 0.05 + (record.changed + 0.5) / (record.taken + 1) +
         2 * record.lowered / (record.taken + 1) + std::sqrt(record.credited);
}

Sequence Edits::Cleaners() const {
  std::vector<size_t> order(records_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return records_[a].lowered > records_[b].lowered;
  });
  Sequence cleaners;
  for (size_t i : order) {
    if (cleaners.size() == kCleaners || records_[i].lowered == 0) break;
    cleaners.push_back(problem_.actions[i]);
  }
  return cleaners;
}

Sequence Edits::Cleaned(Sequence sequence) const {
  const Sequence cleaners = Cleaners();
  sequence.insert(sequence.end(), cleaners.begin(), cleaners.end());
  if (sequence.size() > problem_.longest) sequence.resize(problem_.longest);
  return sequence;
}

Action Edits::Draw(const Sequence& sequence, size_t position, double chance) {
  std::vector<double> weights;
  weights.reserve(records_.size());
  for (const Record& record : records_) weights.push_back(Weight(record));
  if (problem_.prior != nullptr) {
    const auto end = sequence.begin() + static_cast<std::ptrdiff_t>(position);
    const StateGraph::Node before = graph_.Walk(Sequence(sequence.begin(), end));
    if (const Prior::Opinion* opinion = graph_.Opinion(before)) {
      // Half by the record: the policy may be wrong.
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (size_t i = 0; i < weights.size(); ++i) {
        weights[i] = 0.5 * weights[i] / sum + 0.5 * opinion->probabilities[i];
      }
    }
  }
  return problem_.actions[Choose(weights, chance)];
}

size_t Edits::Position(size_t size) {
  const double late = 1 - std::pow(rng_.Unit(), late_);
  return std::min(size - 1, static_cast<size_t>(late * static_cast<double>(size)));
}

void Edits::Edit(Sequence& sequence, Sequence& tried) {
  const double what = rng_.Unit();
  const auto at = [&sequence](size_t i) {
    return sequence.begin() + static_cast<std::ptrdiff_t>(i);
  };
  if (what < 0.45 || sequence.size() < 2) {
    const double chance = rng_.Unit();
    const size_t position = Position(sequence.size() + 1);
    const Action action = Draw(sequence, position, chance);
    sequence.insert(at(position), action);
    tried.push_back(action);
  } else if (what < 0.6) {
    sequence.erase(at(Position(sequence.size())));
  } else if (what < 0.75) {
    const double chance = rng_.Unit();
    const size_t position = Position(sequence.size());
    const Action action = Draw(sequence, position, chance);
    sequence[position] = action;
    tried.push_back(action);
  } else if (what < 0.9) {
    std::swap(sequence[Position(sequence.size())], sequence[Position(sequence.size())]);
  } else {
    // Move a stretch of up to a quarter elsewhere.
    const size_t length = 1 + rng_.Below(std::max<size_t>(1, sequence.size() / 4));
    const size_t from = rng_.Below(sequence.size() - length + 1);
    const Sequence stretch(at(from), at(from + length));
    sequence.erase(at(from), at(from + length));
    sequence.insert(at(Position(sequence.size() + 1)), stretch.begin(), stretch.end());
  }
}

void Edits::Extend(Sequence& sequence, Sequence& tried) {
  const StateGraph::Node end = graph_.Walk(sequence);
  std::vector<double> weights = graph_.Promise(end);
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (graph_.Next(end, i) != StateGraph::kUnknown) weights[i] = 0;
    sum += weights[i];
  }
  if (sum == 0) return Edit(sequence, tried);
  const Action action = problem_.actions[rng_.Weighted(weights)];
  sequence.push_back(action);
  tried.push_back(action);
}

Sequence Changing(const Trial& trial, const Prefix& best, size_t beyond) {
  Sequence changing;
  for (const ActionResult& result : trial.results) {
    if (changing.size() == best.sequence.size() + beyond) break;
    if (result.changed) changing.push_back(result.action);
  }
  return changing;
}

}  // namespace hone
