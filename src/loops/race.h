// Which of two kernels of one task runs faster? Measured as a worker's race is (core/race.h).
#ifndef HONE_LOOPS_RACE_H_
#define HONE_LOOPS_RACE_H_

#include <atomic>
#include <functional>

#include "core/race.h"
#include "loops/generator.h"

namespace hone::loops {

// Takes `pairs` pairs of samples, each over `repeats` runs; the first of them has number `first`.
using TakePairs =
    std::function<StatusOr<std::vector<PairTimes>>(int first, int pairs, int repeats)>;

// Ends early where `interrupted` becomes true and there are as many pairs as the options want at
// least. `most_repeats` is 1 where a sample has to be a single run.
StatusOr<RaceReport> RacePairs(const TakePairs& take, const RaceOptions& options, int most_repeats,
                               const std::atomic<bool>* interrupted = nullptr);

// Warm: one run after another on the same buffers. Cold: each run finds the caches without them.
StatusOr<RaceReport> Race(Generator& generator, const Kernel& a, const Kernel& b,
                          const RaceOptions& options, bool cold, int threads,
                          const std::atomic<bool>* interrupted = nullptr);

}  // namespace hone::loops

#endif  // HONE_LOOPS_RACE_H_
