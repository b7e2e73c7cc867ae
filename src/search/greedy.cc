#include "search/greedy.h"

#include <deque>
#include <utility>

namespace hone {
namespace {

class GreedySearcher final : public Searcher {
 public:
  explicit GreedySearcher(const SearchProblem& problem)
      : problem_(problem), here_{problem.initial_value, {}} {
    PushRound({Sequence{}});
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
    const Prefix prefix = BestPrefix(trial, problem_.initial_value);
    if (prefix.value < best_.value) best_ = prefix;
    if (!trial.results.empty() && trial.results.back().changed && !two_ahead_) {
      changing_.push_back(trial.sequence);
    }
  }

 private:
  // Every action behind each of `prefixes`.
  void PushRound(const std::vector<Sequence>& prefixes) {
    best_ = here_;
    for (const Sequence& prefix : prefixes) {
      if (prefix.size() >= problem_.longest) continue;
      for (Action action : problem_.actions) {
        Sequence& sequence = queue_.emplace_back(prefix);
        sequence.push_back(action);
      }
    }
  }

  void EndRound() {
    if (best_.value < here_.value) {
      here_ = best_;
      two_ahead_ = false;
      changing_.clear();
      PushRound({here_.sequence});
    } else if (!two_ahead_ && !changing_.empty()) {
      two_ahead_ = true;
      PushRound(std::exchange(changing_, {}));
    } else if (next_start_ < problem_.starts.size()) {
      // Stuck: on to the next start, of which only a better result counts.
      two_ahead_ = false;
      changing_.clear();
      best_ = here_ = {problem_.initial_value, {}};
      queue_.push_back(problem_.starts[next_start_++]);
    }
  }

  const SearchProblem problem_;
  Prefix here_;
  Prefix best_;                     // of the round
  std::vector<Sequence> changing_;  // of the round: sequences whose last action changed something
  std::deque<Sequence> queue_;
  size_t pending_ = 0;
  size_t next_start_ = 0;
  bool two_ahead_ = false;
};

}  // namespace

std::unique_ptr<Searcher> MakeGreedySearcher(const SearchProblem& problem, uint64_t /*seed*/) {
  return std::make_unique<GreedySearcher>(problem);
}

}  // namespace hone
