// Random search guided by a trained policy.
#ifndef HONE_SEARCH_POLICY_H_
#define HONE_SEARCH_POLICY_H_

#include "search/searcher.h"

namespace hone {

// The starts; the walk of the likeliest actions (rollout.h); then walks drawn by the policy, more
// and less boldly in turn, several at a time, half of them from somewhere on the way to the best
// state known. Where walks find nothing to ask, what is unknown nearest to the start is asked.
// Exhausted when nothing is unknown.
std::unique_ptr<Searcher> MakePolicySearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_POLICY_H_
