#include "search/policy.h"

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "core/rng.h"
#include "search/rollout.h"
#include "search/state_graph.h"

namespace hone {
namespace {

constexpr std::array kTemperatures = {1.0, 0.5, 2.0};
constexpr double kFromBest = 0.5;  // of the walks
constexpr int kBarren = 64;        // walks in a row that find nothing to ask

class PolicySearcher final : public Searcher {
 public:
  PolicySearcher(const SearchProblem& problem, uint64_t seed)
      : problem_(problem), graph_(problem_), rng_(seed) {
    walks_.emplace(made_++, Rollout(problem_, graph_, StateGraph::kRoot, 0, 0,
                                    problem_.actions.size() + 16));
  }

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    while (sequences.size() < most && next_start_ < problem_.starts.size()) {
      sequences.push_back(Usable(problem_, problem_.starts[next_start_++]));
      asked_.emplace_back();
    }
    if (!sequences.empty()) return sequences;
    for (auto walk = walks_.begin(); walk != walks_.end() && sequences.size() < most;) {
      walk = Continue(walk, sequences);
    }
    if (walks_.count(0) != 0) return sequences;  // the walk of the likeliest actions goes alone
    for (int barren = 0; sequences.size() < most && barren < kBarren;) {
      const size_t before = sequences.size();
      Continue(Begin(), sequences);
      barren = sequences.size() > before ? 0 : barren + 1;
    }
    if (!sequences.empty()) return sequences;
    if (const auto unknown = graph_.AnyUnknown()) {
      graph_.Expect(unknown->first, unknown->second);
      sequences.push_back(graph_.Extended(unknown->first, unknown->second));
      asked_.push_back({std::nullopt, *unknown});
    }
    return sequences;
  }

  void Tell(const Trial& trial) override {
    graph_.Learn(trial);
    const Asked asked = asked_.front();
    asked_.pop_front();
    if (asked.walk) walks_.at(*asked.walk).Answered();
    if (asked.transition) graph_.Settle(asked.transition->first, asked.transition->second);
  }

 private:
  using Walks = std::map<uint64_t, Rollout>;  // by number, in the order of being made; 0 is greedy
  // For a walk, for what no walk came to, or a start.
  struct Asked {
    std::optional<uint64_t> walk;
    std::optional<std::pair<StateGraph::Node, size_t>> transition;
  };

  // Adds the walk's next question, or ends it; returns the walk after it.
  Walks::iterator Continue(Walks::iterator walk, std::vector<Sequence>& sequences) {
    if (walk->second.waits()) return std::next(walk);
    std::optional<Sequence> sequence = walk->second.Ask(rng_);
    if (!sequence) return walks_.erase(walk);
    sequences.push_back(std::move(*sequence));
    asked_.push_back({walk->first, std::nullopt});
    return std::next(walk);
  }

  Walks::iterator Begin() {
    StateGraph::Node from = StateGraph::kRoot;
    size_t steps = 0;
    const Sequence& best = graph_.way(graph_.best());
    if (!best.empty() && rng_.Unit() < kFromBest) {
      steps = 1 + rng_.Below(best.size());
      from = graph_.Walk(Sequence(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(steps)));
    }
    const double temperature = kTemperatures[made_ % kTemperatures.size()];
    return walks_.emplace(made_++, Rollout(problem_, graph_, from, steps, temperature)).first;
  }

  const SearchProblem problem_;
  StateGraph graph_;
  Rng rng_;
  Walks walks_;
  std::deque<Asked> asked_;
  uint64_t made_ = 0;  // walks
  size_t next_start_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> MakePolicySearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<PolicySearcher>(problem, seed);
}

}  // namespace hone
