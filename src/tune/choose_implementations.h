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
  // The whole interval of what is kept lies above, and it is so much faster than the best so far.
  double least_gain = 1.02;
  // Candidates that are raced as one before all others: the first of these that is faster is built
  // upon.
  std::vector<PassSequence> together;
  // Those that take long to compile come last.
  std::function<bool(const PassSequence&)> large;
};

struct ChooseResult {
  PassSequence passes;  // empty where nothing is faster than the program as it is
  RaceReport race;      // of the program as it is against `passes`; all ones where that is empty
};

// Those that go together; then one candidate after the other on top of the best so far, so that
// after each race there is a plan for the whole; in the end those that were left out once more
// alone, for they may have been in the others' way. Candidates that change nothing should be left
// out by the caller; where they are not, RaceReport::same_executable drops them.
ChooseResult ChooseImplementations(const PassSequence& candidates, const RaceFunction& race,
                                   const ChooseOptions& options);

}  // namespace hone::tune

#endif  // HONE_TUNE_CHOOSE_IMPLEMENTATIONS_H_
