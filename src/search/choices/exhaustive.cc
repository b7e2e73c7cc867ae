// All assignments: those with one variable off stock, then with two, and so on; the weightiest
// variables first.
#include <algorithm>
#include <numeric>

#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

class Exhaustive final : public Strategy {
 public:
  explicit Exhaustive(const Problem& problem) : order_(problem.variables.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return problem.variables[a].weight > problem.variables[b].weight;
    });
  }

  Assignment Propose(const History& history, int, Rng&) override {
    if (!Advance(history)) return history.stock();
    Assignment assignment = history.stock();
    for (size_t i = 0; i < at_.size(); ++i) {
      const size_t variable = order_[at_[i]];
      const uint32_t stock = history.variables()[variable].stock;
      assignment[variable] = choice_[i] + (choice_[i] >= stock ? 1 : 0);
    }
    return assignment;
  }

 private:
  uint32_t Others(const History& history, size_t i) const {
    return history.variables()[order_[at_[i]]].choices - 1;
  }

  // False at the end.
  bool Advance(const History& history) {
    for (size_t i = 0; i < at_.size(); ++i) {
      if (++choice_[i] < Others(history, i)) return true;
      choice_[i] = 0;
    }
    // The next combination of as many variables (ascending), else the first of one more.
    const size_t changed = at_.size();
    for (size_t i = changed; i-- > 0;) {
      if (at_[i] + (changed - i) >= order_.size()) continue;
      ++at_[i];
      for (size_t j = i + 1; j < changed; ++j) at_[j] = at_[j - 1] + 1;
      return true;
    }
    if (changed == order_.size()) return false;
    at_.resize(changed + 1);
    std::iota(at_.begin(), at_.end(), size_t{0});
    choice_.assign(changed + 1, 0);
    return true;
  }

  std::vector<size_t> order_;
  std::vector<size_t> at_;  // which are off stock, as indices of order_, ascending
  std::vector<uint32_t> choice_;
};

}  // namespace

std::unique_ptr<Chooser> MakeExhaustive(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, std::make_unique<Exhaustive>(problem),
                             FirstAsks::kStockAndStarts);
}

}  // namespace hone::choices
