// Simulated annealing over sequences.
#include <algorithm>
#include <cmath>
#include <utility>

#include "search/edit_searcher.h"
#include "search/searcher.h"

namespace hone {
namespace {

constexpr int kProbes = 40;         // trials that the first temperature comes from
constexpr double kHot = 0.1;        // first temperature, over the mean difference
constexpr double kCold = 0.01;      // where it heats up again, over the first temperature
constexpr double kCooling = 0.985;  // a trial
constexpr double kReheat = 0.6;     // each heat starts at so much of the one before
constexpr double kLeastHeat = 0.1;  // but not below this, over the first temperature
constexpr double kLate = 4;         // see Edits
constexpr double kExtended = 0.8;   // of the proposals: one action more, nothing else
constexpr size_t kNeutralTail = 8;  // changing actions kept behind the best prefix

class AnnealSearcher final : public EditSearcher {
 public:
  AnnealSearcher(const SearchProblem& problem, uint64_t seed)
      : EditSearcher(problem, kLate, seed, /*teaches_graph=*/true),
        best_{problem.initial_value, {}},
        here_(best_) {}

 private:
  void Learn(const Trial& trial, const Sequence& tried) override {
    if (trial.results.empty()) return;
    const Prefix prefix = BestPrefix(trial, problem_.initial_value);
    const double worse = prefix.value - here_.value;
    Cool(std::abs(worse));
    if (worse <= 0 || (temperature_ > 0 && edits_.rng().Unit() < std::exp(-worse / temperature_))) {
      here_ = {prefix.value, Changing(trial, prefix, kNeutralTail)};
    }
    if (prefix.value < best_.value) {
      best_ = prefix;
      edits_.Credit(tried);
    }
  }

  void Cool(double difference) {
    if (probes_ < kProbes || differences_ == 0) {
      ++probes_;
      if (difference > 0) {
        sum_ += difference;
        ++differences_;
      }
      if (probes_ < kProbes || differences_ == 0) return;
      heat_ = temperature_ = first_ = kHot * sum_ / differences_;
      return;
    }
    temperature_ *= kCooling;
    if (temperature_ >= kCold * first_) return;
    heat_ = temperature_ = std::max(kReheat * heat_, kLeastHeat * first_);
    here_ = best_;
  }

  Proposal Plan() override {
    Proposal proposal{here_.sequence, {}};
    if (proposal.sequence.size() >= problem_.longest || edits_.rng().Unit() >= kExtended) {
      return Edited(std::move(proposal.sequence));
    }
    edits_.Extend(proposal.sequence, proposal.tried);
    return proposal;
  }

  Prefix best_;
  Prefix here_;  // with the value of its best prefix
  int probes_ = 0;
  int differences_ = 0;  // probes of another value
  double sum_ = 0;       // of those differences
  double first_ = 0;     // temperature, and that of this heat, and now
  double heat_ = 0;
  double temperature_ = 0;
};

}  // namespace

// The starts; then edits (edits.h) of the sequence in hand. A worse one is accepted with
// probability exp(-difference / temperature) (Kirkpatrick, Gelatt, Vecchi: "Optimization by
// simulated annealing", 1983). The first temperature comes from the differences of the first
// trials; it falls geometrically, and when it is cold, it goes back to the best sequence and heats
// up again, less than before.
std::unique_ptr<Searcher> MakeAnnealSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<AnnealSearcher>(problem, seed);
}

}  // namespace hone
