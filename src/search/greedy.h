// Steepest descent: always the action that helps most.
#ifndef HONE_SEARCH_GREEDY_H_
#define HONE_SEARCH_GREEDY_H_

#include "search/searcher.h"

namespace hone {

// From the empty sequence and from every start: all actions are tried after the sequence in hand
// and the best is taken. Where none helps, every action is tried behind each of the states that
// they led to, and then once more; there the first that helps is taken. Exhausted when that does
// not help either.
std::unique_ptr<Searcher> MakeGreedySearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_GREEDY_H_
