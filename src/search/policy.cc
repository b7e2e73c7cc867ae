// Local search from where a trained policy leads.
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "core/rng.h"
#include "search/rollout.h"
#include "search/searcher.h"
#include "search/state_graph.h"

namespace hone {
namespace {

constexpr size_t kDrawnWalks = 4;

class PolicySearcher final : public Searcher {
 public:
  PolicySearcher(const SearchProblem& problem, uint64_t seed)
      : problem_(problem), seed_(seed), graph_(problem_), rng_(seed) {
    // Where the policy is unsure in the end, every action is tried.
    walks_.emplace(
        0, Rollout(problem_, graph_, StateGraph::kRoot, 0, 0, problem_.actions.size() + 16));
  }

  std::vector<Sequence> Ask(size_t most) override {
    if (local_ != nullptr) return local_->Ask(most);
    std::vector<Sequence> sequences;
    if (Take(problem_.starts, next_start_, most, sequences)) return sequences;
    Walk(most, sequences);
    if (!sequences.empty() || !asked_.empty()) return sequences;
    if (Take(problem_.coreset, next_known_, most, sequences)) return sequences;
    if (!drawn_) {
      drawn_ = true;
      for (size_t i = 1; i <= kDrawnWalks; ++i) {
        walks_.emplace(i, Rollout(problem_, graph_, StateGraph::kRoot, 0, 1));
      }
      Walk(most, sequences);
      if (!sequences.empty()) return sequences;
    }
    GoLocal();
    return local_->Ask(most);
  }

  void Tell(const Trial& trial) override {
    if (local_ != nullptr) return local_->Tell(trial);
    graph_.Learn(trial);
    const std::optional<size_t> walk = asked_.front();
    asked_.pop_front();
    if (walk) walks_.at(*walk).Answered();
  }

 private:
  // Adds what is left of what is known; false where nothing is.
  bool Take(const std::vector<Sequence>& known, size_t& next, size_t most,
            std::vector<Sequence>& sequences) {
    while (sequences.size() < most && next < known.size()) {
      sequences.push_back(Usable(problem_, known[next++]));
      asked_.emplace_back();
    }
    return !sequences.empty();
  }

  // Adds the next question of every walk, and drops the walks that are over.
  void Walk(size_t most, std::vector<Sequence>& sequences) {
    for (auto walk = walks_.begin(); walk != walks_.end() && sequences.size() < most;) {
      if (walk->second.waits()) {
        ++walk;
        continue;
      }
      std::optional<Sequence> sequence = walk->second.Ask(rng_);
      if (!sequence) {
        walk = walks_.erase(walk);
        continue;
      }
      sequences.push_back(std::move(*sequence));
      asked_.emplace_back(walk->first);
      ++walk;
    }
  }

  void GoLocal() {
    SearchProblem problem = problem_;
    problem.prior = nullptr;
    problem.starts = {graph_.way(graph_.best())};
    local_ = FindSearcher("local")->make(problem, seed_);
  }

  const SearchProblem problem_;
  const uint64_t seed_;
  StateGraph graph_;
  Rng rng_;
  std::map<size_t, Rollout> walks_;          // by number; 0 is that of the likeliest actions
  std::deque<std::optional<size_t>> asked_;  // the walk that asked, or none
  size_t next_start_ = 0;
  size_t next_known_ = 0;  // of the coreset
  bool drawn_ = false;
  std::unique_ptr<Searcher> local_;
};

}  // namespace

// The starts; the walk of the likeliest actions (rollout.h); the problem's coreset, where there is
// one; a few walks drawn by the policy, in step; then local search (local.h) from the best of all.
// The policy knows where to begin and local search where to go on: beyond some hundred steps walks
// alone find less than it does (docs/learning.md).
std::unique_ptr<Searcher> MakePolicySearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<PolicySearcher>(problem, seed);
}

}  // namespace hone
