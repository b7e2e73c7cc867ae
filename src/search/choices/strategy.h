// A chooser's own part: where to look next, given what is known. Choosers share the rest (the first
// asks, never asking twice, knowing when all is asked): strategy_chooser.cc.
#ifndef HONE_SEARCH_CHOICES_STRATEGY_H_
#define HONE_SEARCH_CHOICES_STRATEGY_H_

#include <memory>

#include "core/rng.h"
#include "search/choices/choices.h"
#include "search/choices/history.h"

namespace hone::choices {

class Strategy {
 public:
  virtual ~Strategy() = default;
  // May propose what was seen before: it is asked once more then, a few times.
  virtual Assignment Propose(const History& history, int group, Rng& rng) = 0;
  // The trial is in the history already, unless it failed. Not for those that remember nothing
  // else.
  virtual void Learn(const History& /*history*/, const Trial& /*trial*/, Rng& /*rng*/) {}
};

enum class FirstAsks { kStockAndStarts, kSingles };

std::unique_ptr<Chooser> MakeStrategyChooser(const Problem& problem, uint64_t seed,
                                             std::unique_ptr<Strategy> strategy, FirstAsks first);

}  // namespace hone::choices

#endif  // HONE_SEARCH_CHOICES_STRATEGY_H_
