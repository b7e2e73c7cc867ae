// Hill climbing over sequences: the default searcher.
#ifndef HONE_SEARCH_LOCAL_H_
#define HONE_SEARCH_LOCAL_H_

#include "search/searcher.h"

namespace hone {

// 1. The starts. 2. A sweep: the best sequence with each action behind it and a clean-up after
// that, again until none helps. 3. Random edits of the sequence in hand: insert, delete, replace,
// swap, move a stretch; late positions are likelier, for they cost less. Equal values are accepted,
// so that it drifts along plateaus. What an action did so far decides how often it is drawn. The
// clean-up is the few actions that have lowered the value most often.
std::unique_ptr<Searcher> MakeLocalSearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_LOCAL_H_
