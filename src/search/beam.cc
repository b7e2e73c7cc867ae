// Beam search over states, wider from round to round.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/rng.h"
#include "search/searcher.h"
#include "search/state_graph.h"

namespace hone {
namespace {

// Of the first round. With a prior fewer actions do.
constexpr size_t kWidth = 2;
constexpr size_t kActions = 8;
constexpr size_t kActionsByPrior = 6;
constexpr int kPatience = 3;  // levels without a better value
// Rounds after which width and the like no longer double: they are beyond any graph by then.
constexpr int kMostDoublings = 24;

class BeamSearcher final : public Searcher {
 public:
  BeamSearcher(const SearchProblem& problem, uint64_t seed)
      : problem_(problem), graph_(problem_), rng_(seed) {
    for (const Sequence& start : problem_.starts) {
      queue_.Plan({Usable(problem_, start), StateGraph::kRoot, kStart});
    }
  }

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    while (sequences.size() < most) {
      if (queue_.planned() == 0 && (queue_.asked() > 0 || !Advance())) break;
      sequences.push_back(queue_.Ask().sequence);
    }
    return sequences;
  }

  void Tell(const Trial& trial) override {
    graph_.Learn(trial);
    const Asked asked = queue_.Told();
    if (asked.action != kStart) graph_.Settle(asked.from, asked.action);
  }

 private:
  using Node = StateGraph::Node;
  static constexpr size_t kStart = ~size_t{0};
  struct Asked {
    Sequence sequence;
    Node from = 0;
    size_t action = 0;  // or kStart
  };

  size_t Grown(size_t first) const { return first << std::min(round_ / 2, kMostDoublings); }
  bool from_root() const { return round_ % 2 == 1; }

  // On to the next level that leaves something to ask for; false where all is known.
  bool Advance() {
    while (queue_.planned() == 0) {
      if (round_ < 0) {
        StartRound();
      } else if (!NextLevel()) {
        if (from_root() && !left_out_) return false;
        StartRound();
      }
      for (Node node : level_) Extend(node);
    }
    return true;
  }

  void StartRound() {
    ++round_;
    left_out_ = false;
    stale_ = 0;
    seen_.assign(graph_.size(), false);
    std::vector<Node> from{StateGraph::kRoot};
    if (!from_root()) {
      from.resize(graph_.size());
      std::iota(from.begin(), from.end(), Node{0});
    }
    SetLevel(std::move(from));
    lowest_ = graph_.value(level_.front());
  }

  // False at the end of a round.
  bool NextLevel() {
    std::vector<Node> candidates;
    seen_.resize(graph_.size());
    for (Node node : level_) {
      for (size_t action = 0; action < problem_.actions.size(); ++action) {
        const Node next = graph_.Next(node, action);
        if (!StateGraph::IsNode(next) || seen_[next]) continue;
        seen_[next] = true;  // once among the candidates
        candidates.push_back(next);
      }
    }
    if (candidates.empty()) return false;
    SetLevel(std::move(candidates));
    if (graph_.value(level_.front()) < lowest_) {
      lowest_ = graph_.value(level_.front());
      stale_ = 0;
    } else if (++stale_ >= static_cast<int>(Grown(kPatience))) {
      left_out_ = true;
      return false;
    }
    return true;
  }

  void SetLevel(std::vector<Node> candidates) {
    std::sort(candidates.begin(), candidates.end(), [this](Node a, Node b) {
      const auto rank = [this](Node node) {
        return std::make_tuple(graph_.value(node), graph_.way(node).size(), node);
      };
      return rank(a) < rank(b);
    });
    const size_t width = Grown(kWidth);
    if (candidates.size() > width) {
      // What fell out may come back by another way.
      for (size_t i = width; i < candidates.size(); ++i) seen_[candidates[i]] = false;
      candidates.resize(width);
      left_out_ = true;
    }
    for (Node node : candidates) seen_[node] = true;
    level_ = std::move(candidates);
  }

  // Queues the most promising of what is not known of a state.
  void Extend(Node node) {
    if (graph_.full(node) || graph_.unknown(node) == 0) return;
    const size_t all = problem_.actions.size();
    const std::vector<double> promise = graph_.Promise(node);
    std::vector<size_t> open;
    for (size_t action = 0; action < all; ++action) {
      if (graph_.Next(node, action) == StateGraph::kUnknown) open.push_back(action);
    }
    // Unguided, the first state tells what the actions are like.
    size_t most = Grown(problem_.prior != nullptr ? kActionsByPrior : kActions);
    if (node == StateGraph::kRoot && problem_.prior == nullptr) most = all;
    const size_t known = all - open.size();
    const size_t tries = std::min(open.size(), most > known ? most - known : 0);
    if (tries < open.size()) left_out_ = true;
    std::stable_sort(open.begin(), open.end(),
                     [&promise](size_t a, size_t b) { return promise[a] > promise[b]; });
    // The last quarter at random, so that nothing is passed over for ever.
    for (size_t i = tries - tries / 4; i < tries; ++i) {
      std::swap(open[i], open[i + rng_.Below(open.size() - i)]);
    }
    for (size_t i = 0; i < tries; ++i) {
      queue_.Plan({graph_.Extended(node, open[i]), node, open[i]});
      graph_.Expect(node, open[i]);
    }
  }

  const SearchProblem problem_;
  StateGraph graph_;
  Rng rng_;
  ProposalQueue<Asked> queue_;
  std::vector<Node> level_;  // best first
  std::vector<bool> seen_;   // by state: in a level of this round
  int round_ = -1;
  int stale_ = 0;          // levels since one had a better value
  double lowest_ = 0;      // of the round
  bool left_out_ = false;  // the round did not take all that there was
};

}  // namespace

// A level is a few distinct states; the next one is the best of what their most promising actions
// lead to, states of earlier levels left out. A round ends where a few levels bring nothing better.
// Rounds start in turn from the best states known (at first what the starts led to) and from the
// initial one, with more states, more actions and more patience each time; what is known already is
// not asked again. Exhausted when a round from the initial state had to leave nothing out.
// Promising is what the prior says, or else what the actions did so far.
std::unique_ptr<Searcher> MakeBeamSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<BeamSearcher>(problem, seed);
}

}  // namespace hone
