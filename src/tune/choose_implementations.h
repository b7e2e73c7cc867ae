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

// Races the program after the passes `a` against the program after the passes `b`.
using RaceFunction =
    std::function<StatusOr<RaceReport>(const PassSequence& a, const PassSequence& b)>;

struct ChooseOptions {
  double least_gain = 1.02;  // a pass is kept where the whole interval of its speedup lies above
  PassSequence together;     // candidates that are raced as one first, where they are several
};

struct ChooseResult {
  PassSequence passes;  // empty where nothing is faster than the program as it is
  RaceReport race;      // of {} against `passes`; all ones where that is empty
};

// Those that go together, and each candidate alone, against the program as it is; then the winners,
// best first, one behind another, each against those kept so far. In the end all must win against
// the program as it is, else nothing is chosen. Candidates that change nothing should be left out
// by the caller; where they are not, RaceReport::same_executable drops them.
ChooseResult ChooseImplementations(const PassSequence& candidates, const RaceFunction& race,
                                   const ChooseOptions& options);

}  // namespace hone::tune

#endif  // HONE_TUNE_CHOOSE_IMPLEMENTATIONS_H_
