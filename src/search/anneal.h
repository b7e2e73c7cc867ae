// Simulated annealing over sequences.
#ifndef HONE_SEARCH_ANNEAL_H_
#define HONE_SEARCH_ANNEAL_H_

#include "search/searcher.h"

namespace hone {

// The starts; then edits (edits.h) of the sequence in hand. A worse one is accepted with
// probability exp(-difference / temperature) (Kirkpatrick, Gelatt, Vecchi: "Optimization by
// simulated annealing", 1983). The first temperature comes from the differences of the first
// trials; it falls geometrically, and when it is cold, it goes back to the best sequence and heats
// up again, less than before.
std::unique_ptr<Searcher> MakeAnnealSearcher(const SearchProblem& problem, uint64_t seed);

}  // namespace hone

#endif  // HONE_SEARCH_ANNEAL_H_
