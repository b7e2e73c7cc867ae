#include "search/local.h"

#include <deque>
#include <utility>

#include "search/edits.h"
#include "search/state_graph.h"

namespace hone {
namespace {

constexpr int kDriftTrials = 60;  // trials without a new best before it returns to the best
constexpr double kLate = 1.6;     // see Edits

class LocalSearcher final : public Searcher {
 public:
  LocalSearcher(const SearchProblem& problem, uint64_t seed)
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
    if (problem_.prior != nullptr) graph_.Learn(trial);
    Prefix prefix = BestPrefix(trial, problem_.initial_value);
    const bool better = prefix.value < best_.value;
    const bool shorter =
        prefix.value == best_.value && prefix.sequence.size() < best_.sequence.size();
    if (better || shorter) {
      best_ = prefix;
      if (better) {
        edits_.Credit(proposal.tried);
        swept_ = 0;
        idle_ = 0;
      }
    }
    if (prefix.value <= here_.value) here_ = std::move(prefix);
    if (++idle_ % kDriftTrials == 0) here_ = best_;
  }

 private:
  struct Proposal {
    Sequence sequence;
    Sequence tried;  // the actions that make it other than what it came from
  };

  void Plan() {
    if (swept_ < problem_.actions.size()) {
      const Action action = problem_.actions[(sweep_from_ + swept_++) % problem_.actions.size()];
      if (swept_ == problem_.actions.size())
        sweep_from_ = edits_.rng().Below(problem_.actions.size());
      Sequence sequence = best_.sequence;
      sequence.push_back(action);
      Propose(std::move(sequence), {action});
      return;
    }
    Sequence sequence = here_.sequence;
    Sequence tried;
    const size_t edits = 1 + (edits_.rng().Unit() < 0.3) + (edits_.rng().Unit() < 0.1);
    for (size_t i = 0; i < edits; ++i) edits_.Edit(sequence, tried);
    Propose(std::move(sequence), std::move(tried));
  }

  void Propose(Sequence sequence, Sequence tried) {
    planned_.push_back({edits_.Cleaned(std::move(sequence)), std::move(tried)});
  }

  const SearchProblem problem_;
  StateGraph graph_;  // of a problem with a prior only
  Edits edits_;
  Prefix best_;
  Prefix here_;
  std::deque<Proposal> planned_;
  std::deque<Proposal> asked_;
  size_t swept_ = 0;  // actions tried behind the best sequence since it was found
  size_t sweep_from_ = 0;
  int idle_ = 0;  // trials since the last new best
};

}  // namespace

std::unique_ptr<Searcher> MakeLocalSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<LocalSearcher>(problem, seed);
}

}  // namespace hone
