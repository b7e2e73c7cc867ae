#include "search/choices/history.h"

#include <algorithm>
#include <utility>

namespace hone::choices {

Assignment StockAssignment(const std::vector<Variable>& variables) {
  Assignment stock;
  for (const Variable& variable : variables) stock.push_back(variable.stock);
  return stock;
}

History::History(std::vector<Variable> variables)
    : variables_(std::move(variables)), stock_(StockAssignment(variables_)) {
  for (const Variable& variable : variables_) size_ = std::min(1e18, size_ * variable.choices);
}

void History::Add(const Trial& trial) {
  seen_.insert(trial.assignment);
  if (trial.failed) return;
  const auto [known, added] = index_.try_emplace(trial.assignment, trials_.size());
  if (added) {
    trials_.push_back(trial);
  } else {
    trials_[known->second].value = trial.value;
  }
  // A value that was corrected may have been the best.
  best_ = 0;
  for (size_t i = 1; i < trials_.size(); ++i) {
    if (trials_[i].value < trials_[best_].value) best_ = i;
  }
}

}  // namespace hone::choices
