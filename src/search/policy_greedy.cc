// A trained policy by itself.
#include <optional>

#include "core/rng.h"
#include "search/rollout.h"
#include "search/searcher.h"
#include "search/state_graph.h"

namespace hone {
namespace {

class PolicyGreedySearcher final : public Searcher {
 public:
  explicit PolicyGreedySearcher(const SearchProblem& problem)
      : problem_(problem),
        graph_(problem_),
        rng_(0),
        walk_(problem_, graph_, StateGraph::kRoot, 0, 0, Patience()) {}

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    if (most == 0 || walk_.waits()) return sequences;
    if (std::optional<Sequence> sequence = walk_.Ask(rng_)) sequences.push_back(*sequence);
    return sequences;
  }

  void Tell(const Trial& trial) override {
    graph_.Learn(trial);
    walk_.Answered();
  }

 private:
  // Every action is tried in the last state: where the policy is unsure, that is the proof.
  size_t Patience() const { return problem_.actions.size() + 16; }

  const SearchProblem problem_;
  StateGraph graph_;
  Rng rng_;  // not drawn from
  Rollout walk_;
};

}  // namespace

// The walk of the likeliest actions (rollout.h), the starts left aside; then exhausted.
std::unique_ptr<Searcher> MakePolicyGreedySearcher(const SearchProblem& problem,
                                                   uint64_t /*seed*/) {
  return std::make_unique<PolicyGreedySearcher>(problem);
}

}  // namespace hone
