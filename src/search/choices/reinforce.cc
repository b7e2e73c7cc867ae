// A factored policy: a categorical distribution for each variable, moved along the gradient of the
// expected value (Williams, "Simple statistical gradient-following algorithms for connectionist
// reinforcement learning", 1992), with a running mean as baseline.
#include <algorithm>
#include <cmath>

#include "search/choices/mutate.h"
#include "search/choices/strategy.h"

namespace hone::choices {
namespace {

constexpr double kRate = 0.3;
constexpr double kStockShare = 0.9;  // of a variable's first distribution
constexpr double kMemory = 0.9;      // of the baseline and of the spread

class Reinforce final : public Strategy {
 public:
  explicit Reinforce(const Problem& problem) {
    for (const Variable& variable : problem.variables) {
      std::vector<double>& logits = logits_.emplace_back(variable.choices, 0.0);
      logits[variable.stock] = std::log(kStockShare * (variable.choices - 1) / (1 - kStockShare));
    }
  }

  Assignment Propose(const History& history, int group, Rng& rng) override {
    Assignment assignment = history.best();
    for (size_t i : VariablesOf(history.variables(), group)) {
      assignment[i] = static_cast<uint32_t>(rng.Weighted(Probabilities(i)));
    }
    return assignment;
  }

  void Learn(const History&, const Trial& trial, Rng&) override {
    if (trial.failed) return;
    const double deviation = trial.value - baseline_;
    spread_ = kMemory * spread_ + (1 - kMemory) * std::abs(deviation);
    const double advantage = std::max(-2.0, std::min(2.0, -deviation / (spread_ + 1e-6)));
    baseline_ = kMemory * baseline_ + (1 - kMemory) * trial.value;
    for (size_t i = 0; i < logits_.size(); ++i) {
      const std::vector<double> p = Probabilities(i);
      for (size_t c = 0; c < p.size(); ++c) {
        const double gradient = (c == trial.assignment[i] ? 1 : 0) - p[c];
        logits_[i][c] = std::max(-6.0, std::min(6.0, logits_[i][c] + kRate * advantage * gradient));
      }
    }
  }

 private:
  std::vector<double> Probabilities(size_t variable) const {
    std::vector<double> p;
    double sum = 0;
    for (double logit : logits_[variable]) sum += p.emplace_back(std::exp(logit));
    for (double& share : p) share /= sum;
    return p;
  }

  std::vector<std::vector<double>> logits_;
  double baseline_ = 0;
  double spread_ = 0.05;
};

}  // namespace

std::unique_ptr<Chooser> MakeReinforce(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, std::make_unique<Reinforce>(problem),
                             FirstAsks::kSingles);
}

}  // namespace hone::choices
