// Random edits of sequences, and what is known of the actions they draw.
#ifndef HONE_SEARCH_EDITS_H_
#define HONE_SEARCH_EDITS_H_

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "core/rng.h"
#include "search/searcher.h"
#include "search/state_graph.h"

namespace hone {

// Draws actions by how they did so far, and by the problem's prior where it has one.
// The problem and the graph must outlive it; whoever uses them teaches the graph.
class Edits {
 public:
  // `late` is how much likelier late positions are: 1 is not at all.
  Edits(const SearchProblem& problem, StateGraph& graph, double late, uint64_t seed);

  void Learn(const Trial& trial);
  // A new best came of trying these.
  void Credit(const Sequence& tried);

  // The few actions that have lowered the value most often.
  Sequence Cleaners() const;
  // The sequence with the cleaners behind it, no longer than the problem allows.
  Sequence Cleaned(Sequence sequence) const;

  // Insert, delete, replace, swap, or move a stretch; late positions are likelier, for they cost
  // less. Actions that come in are added to `tried`.
  void Edit(Sequence& sequence, Sequence& tried);
  // Adds the action at the end of which least is known and most is to be expected there.
  void Extend(Sequence& sequence, Sequence& tried);
  // An action to go in at a position.
  Action Draw(const Sequence& sequence, size_t position) {
    return Draw(sequence, position, rng_.Unit());
  }
  // In [0, size), late ones likelier.
  size_t Position(size_t size);

  Rng& rng() { return rng_; }

 private:
  // Statistics of an action on this program.
  struct Record {
    double taken = 0;
    double changed = 0;
    double lowered = 0;
    double credited = 0;  // new bests that came of trying it
  };

  static double Weight(const Record& record);
  // `chance` is uniform in [0, 1).
  Action Draw(const Sequence& sequence, size_t position, double chance);

  const SearchProblem& problem_;
  StateGraph& graph_;
  const double late_;
  Rng rng_;
  std::unordered_map<Action, size_t> index_;
  std::vector<Record> records_;
};

// The changing actions of a trial, up to its best prefix and `beyond` more: what is neutral by
// itself may be what a later edit needs.
Sequence Changing(const Trial& trial, const Prefix& best, size_t beyond);

}  // namespace hone

#endif  // HONE_SEARCH_EDITS_H_
