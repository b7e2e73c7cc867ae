// A population of sequences.
#ifndef HONE_SEARCH_GENETIC_H_
#define HONE_SEARCH_GENETIC_H_

#include "search/searcher.h"

namespace hone {

// The starts and random sequences; then children of parents that win tournaments, one at a time, in
// place of the worst. A child takes most of one parent and behind it what the other did since the
// last state that both passed through, so that nearly all but the tail is known; or it is an edit
// (edits.h) of one parent; or both. No two of the population end in the same state. Where nothing
// better comes for long, all but the best few make room for random sequences.
std::unique_ptr<Searcher> MakeGeneticSearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_GENETIC_H_
