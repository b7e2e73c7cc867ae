// Steepest descent: always the action that helps most.
#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "search/searcher.h"

namespace hone {
namespace {

constexpr int kDeepest = 3;

class GreedySearcher final : public Searcher {
 public:
  explicit GreedySearcher(const SearchProblem& problem)
      : problem_(problem), here_{problem.initial_value, {}} {
    Restart(here_);
  }

  std::vector<Sequence> Ask(size_t most) override {
    if (queue_.empty() && pending_ == 0) EndRound();
    std::vector<Sequence> sequences;
    while (sequences.size() < most && !queue_.empty()) {
      sequences.push_back(std::move(queue_.front()));
      queue_.pop_front();
      ++pending_;
    }
    return sequences;
  }

  void Tell(const Trial& trial) override {
    --pending_;
    Prefix prefix = BestPrefix(trial, problem_.initial_value);
    if (prefix.value < best_.value) {
      best_ = std::move(prefix);
      // Further ahead a round is dear: what helps is taken at once.
      if (ahead_ > 1) queue_.clear();
    }
    if (!trial.results.empty() && trial.results.back().changed &&
        met_.insert(trial.results.back().state).second) {
      changing_.push_back({trial.results.back().value, trial.sequence});
    }
  }

 private:
  // On from `from`, one action ahead.
  void Restart(Prefix from) {
    here_ = std::move(from);
    ahead_ = 0;
    met_ = {problem_.initial_state};
    changing_ = {here_};
    LookFurther();
  }

  // Every action behind each state that the round led to, the best of them first.
  void LookFurther() {
    ++ahead_;
    best_ = here_;
    std::stable_sort(changing_.begin(), changing_.end(),
                     [](const Prefix& a, const Prefix& b) { return a.value < b.value; });
    for (const Prefix& prefix : std::exchange(changing_, {})) {
      if (prefix.sequence.size() >= problem_.longest) continue;
      for (Action action : problem_.actions) {
        Sequence& sequence = queue_.emplace_back(prefix.sequence);
        sequence.push_back(action);
      }
    }
  }

  void EndRound() {
    if (best_.value < here_.value) {
      Restart(best_);
    } else if (ahead_ > 0 && ahead_ < kDeepest && !changing_.empty()) {
      LookFurther();
    }
    if (queue_.empty() && next_start_ < problem_.starts.size()) {
      // Stuck: on to the next start, of which only a better result counts.
      best_ = here_ = {problem_.initial_value, {}};
      ahead_ = 0;
      changing_.clear();
      queue_.push_back(Usable(problem_, problem_.starts[next_start_++]));
    }
  }

  const SearchProblem problem_;
  Prefix here_;
  Prefix best_;                          // of the round
  std::vector<Prefix> changing_;         // of the round: with the value at their end, one a state
  std::unordered_set<Fingerprint> met_;  // states that looking ahead from here led to
  std::deque<Sequence> queue_;
  size_t pending_ = 0;
  size_t next_start_ = 0;
  int ahead_ = 0;  // actions that the round looks ahead; 0 while a start is asked
};

}  // namespace

// From the empty sequence and from every start: all actions are tried after the sequence in hand
// and the best is taken. Where none helps, every action is tried behind each of the states that
// they led to, and then once more; there the first that helps is taken. Exhausted when that does
// not help either.
std::unique_ptr<Searcher> MakeGreedySearcher(const SearchProblem& problem, uint64_t /*seed*/) {
  return std::make_unique<GreedySearcher>(problem);
}

}  // namespace hone
