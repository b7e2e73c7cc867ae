// What did well elsewhere.
#ifndef HONE_SEARCH_CORESET_H_
#define HONE_SEARCH_CORESET_H_

#include "search/searcher.h"

namespace hone {

// The problem's coreset in its order; then exhausted. (Liang et al.: "Learning compiler pass orders
// using coreset and normalized value prediction", 2023.)
std::unique_ptr<Searcher> MakeCoresetSearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_CORESET_H_
