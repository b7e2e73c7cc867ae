// Simulated annealing (XTAT, section 4): single, multi and group mutations of one assignment; a
// worse one is taken with a probability that falls as it cools, and now and then it begins again
// from the best.
#include <algorithm>
#include <cmath>

#include "search/choices/mutate.h"
#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

constexpr double kCooling = 0.97;  // a trial
constexpr double kCold = 0.001;    // below it, reheat
constexpr double kFirst = 0.03;    // values are logarithms of time: three per cent

class Anneal final : public Strategy {
 public:
  Assignment Propose(const History& history, int group, Rng& rng) override {
    Assignment assignment = here_.empty() ? history.best() : here_;
    MutateSomehow(history.variables(), group, rng, assignment);
    return assignment;
  }

  void Learn(const History& history, const Trial& trial, Rng& rng) override {
    if (trial.failed) return;
    temperature_ *= kCooling;
    if (temperature_ < kCold) {
      temperature_ = kFirst;
      here_.clear();
    }
    if (here_.empty() || trial.assignment == here_) {
      here_ = history.best();
      value_ = history.best_value();
    }
    const double worse = trial.value - value_;
    if (worse <= 0 || rng.Unit() < std::exp(-worse / temperature_)) {
      here_ = trial.assignment;
      value_ = trial.value;
    }
  }

 private:
  Assignment here_;
  double value_ = 0;
  double temperature_ = kFirst;
};

}  // namespace

std::unique_ptr<Chooser> MakeAnneal(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, std::make_unique<Anneal>(), FirstAsks::kSingles);
}

}  // namespace hone::choices
