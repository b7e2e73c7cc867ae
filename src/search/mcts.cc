// Monte-Carlo tree search over states.
#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "core/rng.h"
#include "search/searcher.h"
#include "search/state_graph.h"

namespace hone {
namespace {

constexpr double kExploration = 1;
constexpr size_t kDeepest = 96;  // actions on the way down
constexpr size_t kRollout = 2;   // actions behind a new state where no value estimate exists
constexpr int kDescents = 64;    // that end without a question before any unknown one is asked
// The range of rewards among a state's actions is taken for no less than this, over the range of
// all: else noise among equals would look like a difference.
constexpr double kLeastRange = 0.05;

class MctsSearcher final : public Searcher {
 public:
  MctsSearcher(const SearchProblem& problem, uint64_t seed)
      : problem_(problem), graph_(problem_), rng_(seed) {
    const Prior::Opinion* opinion = graph_.Opinion(StateGraph::kRoot);
    rollouts_ = problem_.prior == nullptr ||
                (!problem_.prior->NeedsArrays() && (opinion == nullptr || !opinion->gain));
  }

  std::vector<Sequence> Ask(size_t most) override {
    std::vector<Sequence> sequences;
    while (sequences.size() < most) {
      if (next_start_ < problem_.starts.size()) {
        asked_.push_back({Usable(problem_, problem_.starts[next_start_++]), {}});
      } else if (!Descend() && !AskAny()) {
        break;
      }
      sequences.push_back(asked_.back().sequence);
    }
    return sequences;
  }

  void Tell(const Trial& trial) override {
    const Simulation simulation = std::move(asked_.front());
    asked_.pop_front();
    const std::vector<Node> states = graph_.Learn(trial);
    if (simulation.path.empty()) {
      Start(states);
      return;
    }
    const Step& last = simulation.path.back();
    graph_.Settle(last.from, last.action);
    const Node leaf = graph_.Next(last.from, last.action);
    double lowest = problem_.initial_value;
    bool worth = StateGraph::IsNode(leaf);
    if (worth) {
      lowest = graph_.value(leaf);
      if (const Prior::Opinion* opinion = graph_.Opinion(leaf); opinion && opinion->gain) {
        lowest -= *opinion->gain * problem_.initial_value;
      }
      for (size_t i = simulation.known; i < states.size(); ++i) {
        lowest = std::min(lowest, graph_.value(states[i]));
      }
    }
    Return(simulation.path, lowest, worth);
  }

 private:
  using Node = StateGraph::Node;
  struct Edge {
    double visits = 0;
    double sum = 0;   // of rewards
    double most = 0;  // of them
  };
  struct Step {
    Node from = 0;
    size_t action = 0;
  };
  struct Simulation {
    Sequence sequence;
    std::vector<Step> path;  // the last is the new one; empty for a start
    size_t known = 0;        // actions of the sequence before the new one
  };

  std::vector<Edge>& Edges(Node node) {
    if (edges_.size() <= node) edges_.resize(std::max(graph_.size(), size_t{node} + 1));
    if (edges_[node].empty()) edges_[node].resize(problem_.actions.size());
    return edges_[node];
  }

  // A start counts as a simulation along its states.
  void Start(const std::vector<Node>& states) {
    std::vector<Step> path;
    Node here = StateGraph::kRoot;
    for (Node next : states) {
      for (size_t action = 0; next != here && action < problem_.actions.size(); ++action) {
        if (graph_.Next(here, action) != next) continue;
        path.push_back({here, action});
        ++Edges(here)[action].visits;
        break;
      }
      here = next;
    }
    if (!path.empty()) Return(path, graph_.value(here), true);
  }

  // Rewards are how far the value lies below the initial one. Visits were counted on the way down,
  // so that simulations under way push others elsewhere; a worthless one is taken back.
  void Return(const std::vector<Step>& path, double lowest, bool worth) {
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      Edge& edge = Edges(step->from)[step->action];
      if (!worth) {
        --edge.visits;
        continue;
      }
      if (const Node to = graph_.Next(step->from, step->action); StateGraph::IsNode(to)) {
        lowest = std::min(lowest, graph_.value(to));
      }
      const double reward = Reward(lowest);
      edge.sum += reward;
      edge.most = std::max(edge.most, reward);
      most_ = std::max(most_, reward);
    }
  }

  // Values above the initial one are all alike.
  double Reward(double value) const { return std::max(0.0, problem_.initial_value - value); }

  static double Worth(const Edge& edge) { return (edge.sum / edge.visits + edge.most) / 2; }

  // Down to an unknown transition; true if one was found.
  bool Descend() {
    for (int i = 0; i < kDescents; ++i) {
      std::vector<Step> path;
      Node here = StateGraph::kRoot;
      ++descent_;
      for (;;) {
        Visit(here);
        const size_t action = Select(here);
        if (action == problem_.actions.size()) break;
        path.push_back({here, action});
        ++Edges(here)[action].visits;
        const Node next = graph_.Next(here, action);
        if (next == StateGraph::kUnknown) {
          Push(std::move(path));
          return true;
        }
        here = next;
        if (path.size() >= kDeepest) break;
      }
      if (path.empty()) return false;
      // A dead end. Its visits stay, with what the state is worth and no more.
      const bool closed = graph_.unknown(here) == 0 && Close(here);
      Return(path, graph_.value(here), !closed);
    }
    return false;
  }

  void Visit(Node node) {
    if (visited_.size() <= node) visited_.resize(std::max(graph_.size(), size_t{node} + 1));
    visited_[node] = descent_;
  }

  bool Closed(Node node) const { return node < closed_.size() && closed_[node]; }

  // Closes a state that leads only to itself and closed ones.
  bool Close(Node node) {
    for (size_t action = 0; action < problem_.actions.size(); ++action) {
      const Node next = graph_.Next(node, action);
      if (next == StateGraph::kPending) return false;
      if (StateGraph::IsNode(next) && next != node && !Closed(next)) return false;
    }
    if (closed_.size() <= node) closed_.resize(graph_.size());
    return closed_[node] = true;
  }

  // The action to follow; the number of actions where there is none.
  size_t Select(Node node) {
    const std::vector<Edge>& edges = Edges(node);
    const size_t all = problem_.actions.size();
    const std::vector<double> promise = graph_.Promise(node);
    const double own = Reward(graph_.value(node));
    double low = own;
    double high = own;
    double visits = 0;
    double total = 0;
    std::vector<size_t> open;
    for (size_t action = 0; action < all; ++action) {
      if (!Open(node, action)) continue;
      open.push_back(action);
      total += promise[action];
      const Edge& edge = edges[action];
      visits += edge.visits;
      if (edge.visits == 0) continue;
      low = std::min(low, Worth(edge));
      high = std::max(high, Worth(edge));
    }
    const double range = std::max({high - low, kLeastRange * most_, 1e-12});
    size_t chosen = all;
    double highest = 0;
    for (size_t action : open) {
      const Edge& edge = edges[action];
      const double likely =
          total > 0 ? promise[action] / total : 1 / static_cast<double>(open.size());
      // What was never tried is taken to be worth as much as doing nothing.
      const double worth = edge.visits == 0 ? own : Worth(edge);
      const double score =
          (worth - low) / range + kExploration * likely * std::sqrt(visits + 1) / (1 + edge.visits);
      if (chosen != all && score <= highest) continue;
      chosen = action;
      highest = score;
    }
    return chosen;
  }

  bool Open(Node node, size_t action) const {
    const Node next = graph_.Next(node, action);
    if (next == StateGraph::kUnknown) return !graph_.full(node);
    if (!StateGraph::IsNode(next) || Closed(next)) return false;
    return next >= visited_.size() || visited_[next] != descent_;
  }

  void Push(std::vector<Step> path) {
    const Step last = path.back();
    Simulation simulation{graph_.Extended(last.from, last.action), std::move(path),
                          graph_.way(last.from).size()};
    graph_.Expect(last.from, last.action);
    if (rollouts_) {
      std::vector<double> promise = graph_.Promise(last.from);
      for (size_t i = 0; i < kRollout && simulation.sequence.size() < problem_.longest; ++i) {
        promise[last.action] *= 0.2;
        simulation.sequence.push_back(problem_.actions[rng_.Weighted(promise)]);
      }
    }
    asked_.push_back(std::move(simulation));
  }

  // Where all ways down end in what is known: anything that is not.
  bool AskAny() {
    const auto unknown = graph_.AnyUnknown();
    if (!unknown) return false;
    ++Edges(unknown->first)[unknown->second].visits;
    Push({{unknown->first, unknown->second}});
    return true;
  }

  const SearchProblem problem_;
  StateGraph graph_;
  Rng rng_;
  std::vector<std::vector<Edge>> edges_;  // by state, empty where it was not passed yet
  std::vector<uint64_t> visited_;         // by state: the last descent that passed it
  std::vector<bool> closed_;              // by state: nothing unknown is below
  std::deque<Simulation> asked_;
  // Not where the prior says what a state is worth, or needs the arrays of a sequence's last one.
  bool rollouts_ = true;
  uint64_t descent_ = 0;
  double most_ = 0;  // reward
  size_t next_start_ = 0;
};

}  // namespace

// Each trial goes down from the initial state by PUCT (Silver et al.: "Mastering the game of Go
// without human knowledge", 2017) to an action not taken yet, whatever the way to the state: equal
// states are one node. Probabilities are the prior's, or else in proportion to what actions did so
// far. What a trial is worth is the lowest value below: that of the new state less the gain that
// the prior expects of it, or else of a few promising actions behind it. Idle actions and dead ends
// are left out. Exhausted when every transition is known.
std::unique_ptr<Searcher> MakeMctsSearcher(const SearchProblem& problem, uint64_t seed) {
  return std::make_unique<MctsSearcher>(problem, seed);
}

}  // namespace hone
