#include "search/anneal.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "search/edits.h"
#include "search/state_graph.h"

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

class AnnealSearcher final : public Searcher {
 public:
  AnnealSearcher(const SearchProblem& problem, uint64_t seed)
      : problem_(problem),
        graph_(problem_),
        edits_(problem_, graph_, kLate, seed),
        best_{problem.initial_value, {}},
        here_(best_) {
    for (const Sequence& start : problem.starts) planned_.push_back({Usable(problem, start), {}});
  }

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    while (sequences.size() < most) {
      if (planned_.empty()) Plan();
      asked_.push_back(std::move(planned_.front()));
      planned_.pop_front();
      sequences.push_back(asked_.back().sequence);
    }
    return sequences;
  }

  void Tell(const Trial& trial) override {
    const Proposal proposal = std::move(asked_.front());
    asked_.pop_front();
    edits_.Learn(trial);
    graph_.Learn(trial);
    if (trial.results.empty()) return;
    const Prefix prefix = BestPrefix(trial, problem_.initial_value);
    const double worse = prefix.value - here_.value;
    Cool(std::abs(worse));
    if (worse <= 0 || (temperature_ > 0 && edits_.rng().Unit() < std::exp(-worse / temperature_))) {
      here_ = {prefix.value, Changing(trial, prefix, kNeutralTail)};
    }
    if (prefix.value < best_.value) {
      best_ = prefix;
      edits_.Credit(proposal.tried);
    }
  }

 private:
  struct Proposal {
    Sequence sequence;
    Sequence tried;
  };

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

  void Plan() {
    Sequence sequence = here_.sequence;
    Sequence tried;
    if (sequence.size() < problem_.longest && edits_.rng().Unit() < kExtended) {
      edits_.Extend(sequence, tried);
      planned_.push_back({std::move(sequence), std::move(tried)});
      return;
    }
    const size_t edits = 1 + (edits_.rng().Unit() < 0.3) + (edits_.rng().Unit() < 0.1);
    for (size_t i = 0; i < edits; ++i) edits_.Edit(sequence, tried);
    planned_.push_back({edits_.Cleaned(std::move(sequence)), std::move(tried)});
  }

  const SearchProblem problem_;
  StateGraph graph_;
  Edits edits_;
  Prefix best_;
  Prefix here_;  // with the value of its best prefix
  std::deque<Proposal> planned_;
  std::deque<Proposal> asked_;
  int probes_ = 0;
  int differences_ = 0;  // probes of another value
  double sum_ = 0;       // of those differences
  double first_ = 0;     // temperature, and that of this heat, and now
  double heat_ = 0;
  double temperature_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> MakeAnnealSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<AnnealSearcher>(problem, seed);
}

}  // namespace hone
