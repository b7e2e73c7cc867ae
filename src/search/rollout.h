// One walk through the states by a policy's probabilities, one question at a time.
#ifndef HONE_SEARCH_ROLLOUT_H_
#define HONE_SEARCH_ROLLOUT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "core/rng.h"
#include "search/searcher.h"
#include "search/state_graph.h"

namespace hone {

// Takes the likeliest action, or draws one, among those not known to change nothing or to lead back
// to where the walk has been; what is known it passes without a question. It ends at the length
// limit, where no action is left, or after some steps without a lower value. The problem and the
// graph must outlive it.
class Rollout {
 public:
  // From a state that is `steps` actions in. Probabilities are taken to the power of one over the
  // temperature; 0 is the likeliest always. `patience`: steps without a lower value that end it.
  Rollout(const SearchProblem& problem, StateGraph& graph, StateGraph::Node from, size_t steps,
          double temperature, size_t patience = 32);

  // The next question; none at the end of the walk. Only while no answer is outstanding.
  std::optional<Sequence> Ask(Rng& rng);
  // The graph has learnt the answer.
  void Answered();
  bool waits() const { return waits_; }

 private:
  // The number of actions where there is none.
  size_t Choose(Rng& rng);
  void Move(StateGraph::Node next);

  const SearchProblem& problem_;
  StateGraph& graph_;
  StateGraph::Node here_;
  std::vector<StateGraph::Node> passed_;
  size_t steps_;
  double temperature_;
  size_t patience_;
  double lowest_;
  size_t stale_ = 0;     // steps without a lower value, idle ones included
  bool looked_ = false;  // asked for the arrays of this state
  bool waits_ = false;
  std::optional<size_t> action_;  // the one asked for
};

}  // namespace hone

#endif  // HONE_SEARCH_ROLLOUT_H_
