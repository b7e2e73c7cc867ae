// Which alternative implementations make a program faster? Decided by racing programs, greedily.
#ifndef HONE_TUNE_CHOOSE_IMPLEMENTATIONS_H_
#define HONE_TUNE_CHOOSE_IMPLEMENTATIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "core/race.h"
#include "core/result.h"

namespace hone::tune {

using PassSequence = std::vector<std::string>;

// Races the program as it is against the program after the passes.
using RaceFunction = std::function<StatusOr<RaceReport>(const PassSequence& passes)>;

struct ChooseOptions {
  // A candidate is kept where its whole interval lies above this, and it is more than this many
  // times as fast as the best so far.
  double least_gain = 1.02;
  // One that is raced before all else; empty where there is none.
  std::string first;
  // Combinations of candidates that are raced next: the first, and with `first` where that gains;
  // then, behind `at_once`, the others as long as nothing is `clear` times as fast, for some may be
  // in others' way. The search goes on from the best.
  std::vector<PassSequence> together;
  double clear = 1.5;
  // Those that are raced next on top of the best, if there is one, all at once: of small gains, and
  // soon compiled.
  PassSequence at_once;
  // Those that the best is raced without at last, one by one: where that is no slower they are no
  // part of it. Where nothing gains, the first combination is raced without all of them.
  PassSequence doubtful;
  // Kernels that may do harm in the first combination: where it gains nothing, it is raced next
  // without them.
  PassSequence harmful;
  // Those that make the program larger: where the first combination runs past its deadline, it is
  // raced without them, and they with nothing else.
  PassSequence growing;
  // Those that take long to compile come last.
  std::function<bool(const PassSequence&)> large;
};

struct ChooseResult {
  PassSequence passes;  // empty where nothing is faster than the program as it is
  RaceReport race;      // of the program as it is against `passes`; all ones where that is empty
};

// First `first`, combinations and `at_once`, then without `doubtful`; where the first combination
// gains nothing, it comes next without `harmful`, and where that gains nothing the first candidate
// alone, and the first one that it lacks; then one candidate after another on top of the best so
// far, so that there is a whole plan after each race; at last those that were left out, each alone,
// for others may have been in their way, but for those whose race ran past its deadline. Candidates
// that change nothing should be left out by the caller; where they are not,
// RaceReport::same_executable drops them.
ChooseResult ChooseImplementations(const PassSequence& candidates, const RaceFunction& race,
                                   const ChooseOptions& options);

}  // namespace hone::tune

#endif  // HONE_TUNE_CHOOSE_IMPLEMENTATIONS_H_
