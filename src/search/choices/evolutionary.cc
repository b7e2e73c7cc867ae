// Evolution with XTAT's figures: a population of the 100 best, crossover with probability 0.2, each
// variable mutated with probability 0.01.
#include <algorithm>

#include "search/choices/mutate.h"
#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

constexpr size_t kPopulation = 100;
constexpr double kCrossover = 0.2;
constexpr double kMutation = 0.01;

class Evolutionary final : public Strategy {
 public:
  Assignment Propose(const History& history, int group, Rng& rng) override {
    if (history.trials().empty()) return history.stock();
    if (stale_) Select(history);
    Assignment child = Parent(history, rng);
    const std::vector<size_t> among = VariablesOf(history.variables(), group);
    if (rng.Unit() < kCrossover) {
      const Assignment& other = Parent(history, rng);
      for (size_t i : among) {
        if (rng.Unit() < 0.5) child[i] = other[i];
      }
    }
    for (size_t i : among) {
      if (rng.Unit() < kMutation) {
        child[i] = static_cast<uint32_t>(rng.Below(history.variables()[i].choices));
      }
    }
    // In small spaces the above mostly changes nothing.
    if (history.Seen(child)) MutateSomehow(history.variables(), group, rng, child);
    return child;
  }

  void Learn(const History&, const Trial&, Rng&) override { stale_ = true; }

 private:
  void Select(const History& history) {
    population_.resize(history.trials().size());
    for (size_t i = 0; i < population_.size(); ++i) population_[i] = i;
    std::stable_sort(population_.begin(), population_.end(), [&](size_t a, size_t b) {
      return history.trials()[a].value < history.trials()[b].value;
    });
    population_.resize(std::min(population_.size(), kPopulation));
    stale_ = false;
  }

  // The better of two.
  const Assignment& Parent(const History& history, Rng& rng) const {
    const size_t a = rng.Below(population_.size());
    const size_t b = rng.Below(population_.size());
    return history.trials()[population_[std::min(a, b)]].assignment;
  }

  std::vector<size_t> population_;  // indices of trials, the best first
  bool stale_ = true;
};

}  // namespace

std::unique_ptr<Chooser> MakeEvolutionary(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, std::make_unique<Evolutionary>(), FirstAsks::kSingles);
}

}  // namespace hone::choices
