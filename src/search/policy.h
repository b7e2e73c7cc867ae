// Local search from where a trained policy leads.
#ifndef HONE_SEARCH_POLICY_H_
#define HONE_SEARCH_POLICY_H_

#include "search/searcher.h"

namespace hone {

// The starts; the walk of the likeliest actions (rollout.h); a few walks drawn by the policy, in
// step; then local search (local.h) from the best of all. The policy knows where to begin and
// local search where to go on: beyond some hundred steps walks alone find less than it does
// (docs/learning.md).
std::unique_ptr<Searcher> MakePolicySearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_POLICY_H_
