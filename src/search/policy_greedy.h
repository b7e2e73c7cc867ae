// A trained policy by itself.
#ifndef HONE_SEARCH_POLICY_GREEDY_H_
#define HONE_SEARCH_POLICY_GREEDY_H_

#include "search/searcher.h"

namespace hone {

// The walk of the likeliest actions (rollout.h), the starts left aside; then exhausted.
std::unique_ptr<Searcher> MakePolicyGreedySearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_POLICY_GREEDY_H_
