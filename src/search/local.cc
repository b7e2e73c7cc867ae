// Hill climbing over sequences: the default searcher.
#include <utility>

#include "search/edit_searcher.h"
#include "search/searcher.h"

namespace hone {
namespace {

constexpr int kDriftTrials = 60;  // trials without a new best before it returns to the best
constexpr double kLate = 1.6;     // see Edits
// Changing actions kept behind the best prefix: where no few actions help, it comes further with
// what is neutral by itself.
constexpr size_t kNeutralTail = 4;

class LocalSearcher final : public EditSearcher {
 public:
  LocalSearcher(const SearchProblem& problem, uint64_t seed)
      : EditSearcher(problem, kLate, seed, /*teaches_graph=*/false),
        best_{problem.initial_value, {}},
        here_(best_) {}

 private:
  void Learn(const Trial& trial, const Sequence& tried) override {
    const Prefix prefix = BestPrefix(trial, problem_.initial_value);
    const bool better = prefix.value < best_.value;
    const bool shorter =
        prefix.value == best_.value && prefix.sequence.size() < best_.sequence.size();
    if (better || shorter) {
      best_ = prefix;
      if (better) {
        edits_.Credit(tried);
        swept_ = 0;
        idle_ = 0;
      }
    }
    if (prefix.value <= here_.value) {
      here_ = {prefix.value, Changing(trial, prefix, kNeutralTail)};
    }
    if (++idle_ % kDriftTrials == 0) here_ = best_;
  }

  Proposal Plan() override {
    if (swept_ == problem_.actions.size()) return Edited(here_.sequence);
    const Action action = problem_.actions[(sweep_from_ + swept_++) % problem_.actions.size()];
    if (swept_ == problem_.actions.size()) {
      sweep_from_ = edits_.rng().Below(problem_.actions.size());
    }
    Sequence sequence = best_.sequence;
    sequence.push_back(action);
    return {edits_.Cleaned(std::move(sequence)), {action}};
  }

  Prefix best_;
  Prefix here_;
  size_t swept_ = 0;  // actions tried behind the best sequence since it was found
  size_t sweep_from_ = 0;
  int idle_ = 0;  // trials since the last new best
};

}  // namespace

// 1. The starts. 2. A sweep: the best sequence with each action behind it and a clean-up after
// that, again until none helps. 3. Random edits of the sequence in hand: insert, delete, replace,
// swap, move a stretch; late positions are likelier, for they cost less. Equal values are accepted,
// with the neutral actions behind them, so that it drifts along plateaus. What an action did so far
// decides how often it is drawn. The clean-up is the few actions that have lowered the value most
// often.
std::unique_ptr<Searcher> MakeLocalSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<LocalSearcher>(problem, seed);
}

}  // namespace hone
