// Steepest descent: always the action that helps most.
#ifndef HONE_SEARCH_GREEDY_H_
#define HONE_SEARCH_GREEDY_H_

#include "search/searcher.h"

namespace hone {

// From the empty sequence and from every start: all actions are tried after the sequence in hand
// and the best is taken. Where none helps, the ones that changed something are tried with every
// second action behind them. Exhausted when that does not help either.
std::unique_ptr<Searcher> MakeGreedySearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_GREEDY_H_
