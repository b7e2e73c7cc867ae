// Monte-Carlo tree search over states.
#ifndef HONE_SEARCH_MCTS_H_
#define HONE_SEARCH_MCTS_H_

#include "search/searcher.h"

namespace hone {

// Each trial goes down from the initial state by PUCT (Silver et al.: "Mastering the game of Go
// without human knowledge", 2017) to an action not taken yet, whatever the way to the state: equal
// states are one node. Probabilities are the prior's, or else in proportion to what actions did so
// far. What a trial is worth is the lowest value below: that of the new state less the gain that
// the prior expects of it, or else of a few promising actions behind it. Idle actions and dead ends
// are left out. Exhausted when every transition is known.
std::unique_ptr<Searcher> MakeMctsSearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_MCTS_H_
