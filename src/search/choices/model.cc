#include "search/choices/model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "search/choices/mutate.h"

namespace hone::choices {
namespace {

constexpr size_t kMutants = 200;   // ranked at a time
constexpr size_t kTop = 5;         // of them asked before the next fit
constexpr size_t kParents = 10;    // the best known assignments
constexpr double kExplore = 0.1;   // of the asks are random mutants
constexpr size_t kExamples = 400;  // the latest, to fit on

class ModelStrategy final : public Strategy {
 public:
  ModelStrategy(const Problem& problem, std::unique_ptr<Model> model) : model_(std::move(model)) {
    for (const Variable& variable : problem.variables) {
      first_column_.push_back(columns_);
      columns_ += variable.choices;
    }
  }

  Assignment Propose(const History& history, int group, Rng& rng) override {
    if (history.trials().size() < 2 || rng.Unit() < kExplore) {
      Assignment mutant = history.best();
      MutateSomehow(history.variables(), group, rng, mutant);
      return mutant;
    }
    if (planned_.empty() || planned_group_ != group) Plan(history, group, rng);
    if (planned_.empty()) return history.best();
    Assignment next = std::move(planned_.back());
    planned_.pop_back();
    return next;
  }

 private:
  Features Of(const History& history, const Assignment& assignment) const {
    Features features;
    for (size_t i = 0; i < assignment.size(); ++i) {
      if (assignment[i] != history.variables()[i].stock) {
        features.push_back(static_cast<uint32_t>(first_column_[i] + assignment[i]));
      }
    }
    return features;
  }

  void Plan(const History& history, int group, Rng& rng) {
    const std::vector<Trial>& trials = history.trials();
    Examples examples;
    examples.columns = columns_;
    for (size_t i = trials.size() > kExamples ? trials.size() - kExamples : 0; i < trials.size();
         ++i) {
      examples.rows.push_back(Of(history, trials[i].assignment));
      examples.values.push_back(trials[i].value);
    }
    model_->Fit(examples, rng);
    std::vector<size_t> order(trials.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return trials[a].value < trials[b].value; });
    std::vector<std::pair<double, Assignment>> mutants;
    std::set<Assignment> known;
    for (size_t i = 0; i < kMutants; ++i) {
      // The better a parent, the more often it is taken.
      const size_t parent = std::min(rng.Below(kParents), rng.Below(kParents));
      Assignment mutant = trials[order[std::min(parent, order.size() - 1)]].assignment;
      for (size_t steps = 1 + rng.Below(3); steps > 0; --steps) {
        MutateSomehow(history.variables(), group, rng, mutant);
      }
      if (history.Seen(mutant) || !known.insert(mutant).second) continue;
      const double promise = model_->Promise(Of(history, mutant));
      mutants.emplace_back(promise, std::move(mutant));
    }
    std::stable_sort(mutants.begin(), mutants.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    planned_.clear();
    planned_group_ = group;
    for (size_t i = std::min(kTop, mutants.size()); i-- > 0;) {
      planned_.push_back(std::move(mutants[i].second));
    }
  }

  const std::unique_ptr<Model> model_;
  std::vector<size_t> first_column_;  // by variable
  size_t columns_ = 0;
  std::vector<Assignment> planned_;  // the most promising last
  int planned_group_ = kEveryGroup;
};

}  // namespace

std::unique_ptr<Strategy> MakeModelStrategy(const Problem& problem, std::unique_ptr<Model> model) {
  return std::make_unique<ModelStrategy>(problem, std::move(model));
}

}  // namespace hone::choices
