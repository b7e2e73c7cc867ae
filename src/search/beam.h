// Beam search over states, wider from round to round.
#ifndef HONE_SEARCH_BEAM_H_
#define HONE_SEARCH_BEAM_H_

#include "search/searcher.h"

namespace hone {

// A level is a few distinct states; the next one is the best of what their most promising actions
// lead to, states of earlier levels left out. A round ends where a few levels bring nothing better.
// Rounds start in turn from the best states known (at first what the starts led to) and from the
// initial one, with more states, more actions and more patience each time; what is known already is
// not asked again. Exhausted when a round from the initial state had to leave nothing out.
// Promising is what the prior says, or else what the actions did so far.
std::unique_ptr<Searcher> MakeBeamSearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_BEAM_H_
