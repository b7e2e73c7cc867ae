// The states that a search has met: their values, ways and transitions, and how often each action
// changed something.
#ifndef HONE_SEARCH_STATE_GRAPH_H_
#define HONE_SEARCH_STATE_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/searcher.h"

namespace hone {

// Actions are named by their index in SearchProblem::actions, states by a number from 0, the
// initial one, in the order of being met. The problem must outlive the graph.
class StateGraph {
 public:
  using Node = uint32_t;
  static constexpr Node kRoot = 0;
  // In place of a node, what else a transition can be. An action that failed is idle.
  static constexpr Node kUnknown = 0xffffffff;
  static constexpr Node kPending = 0xfffffffe;
  static constexpr Node kIdle = 0xfffffffd;
  static bool IsNode(Node node) { return node < kIdle; }

  explicit StateGraph(const SearchProblem& problem);

  // Takes in what came of a sequence; returns the state after each action.
  std::vector<Node> Learn(const Trial& trial);

  Node Next(Node node, size_t action) const;
  // Asked for: no longer unknown, and idle if Settle comes before an answer.
  void Expect(Node node, size_t action) { Transition(node, action) = kPending; }
  void Settle(Node node, size_t action);

  // Where the known part of a sequence leads.
  Node Walk(const Sequence& sequence) const;
  // The index of an action; size() of the problem's actions where it is not one of them.
  size_t Index(Action action) const;

  size_t size() const { return states_.size(); }
  double value(Node node) const { return states_[node].value; }
  // The shortest known way to a state: changing actions only.
  const Sequence& way(Node node) const { return states_[node].way; }
  Sequence Extended(Node node, size_t action) const;
  bool full(Node node) const { return way(node).size() >= problem_.longest; }
  size_t unknown(Node node) const { return states_[node].unknown; }  // transitions
  Node best() const { return best_; }  // of the lowest value; of those the shortest way
  // Some unknown transition, of the earliest state that has one; nothing where all are known.
  std::optional<std::pair<Node, size_t>> AnyUnknown();

  // The prior's, of the way on which the state was first met. Null where there is no prior, or its
  // arrays have not come (ask for the state's way again and they do).
  const Prior::Opinion* Opinion(Node node);
  // How promising each action is in a state: the prior's probabilities, or what the actions did so
  // far and did in the state before this one. At least 0; 0 where known to be idle.
  std::vector<double> Promise(Node node);

 private:
  struct State {
    double value = 0;
    Sequence way;
    Node parent = kUnknown;  // on the first way here, and the action from it
    size_t by = 0;
    size_t unknown = 0;
    std::vector<Node> next;  // empty while all are unknown
    Observed observed;       // emptied once there is an opinion
    std::optional<Prior::Opinion> opinion;
  };
  // An action's effect, once for each state that it was taken in.
  struct Record {
    double taken = 0;
    double changed = 0;
    double lowered = 0;
  };

  Node& Transition(Node node, size_t action);
  Node Meet(const ActionResult& result, Node from, size_t action);
  void Observe(Node node, const Observed& observed);
  double Evidence(const State& state, size_t action) const;

  const SearchProblem& problem_;
  std::unordered_map<Action, size_t> index_;
  std::unordered_map<Fingerprint, Node> nodes_;
  std::deque<State> states_;
  std::vector<Record> records_;
  std::deque<Node> with_arrays_;
  Node best_ = kRoot;
  Node first_open_ = kRoot;  // states before it have nothing unknown
};

}  // namespace hone

#endif  // HONE_SEARCH_STATE_GRAPH_H_
