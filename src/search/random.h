// Uniformly random sequences: the baseline that every other searcher must beat.
#ifndef HONE_SEARCH_RANDOM_H_
#define HONE_SEARCH_RANDOM_H_

#include "search/searcher.h"

namespace hone {

// The starts first; then sequences of 8 to 64 actions, each drawn uniformly.
std::unique_ptr<Searcher> MakeRandomSearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_RANDOM_H_
