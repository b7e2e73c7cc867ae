// A race between two programs that another process runs, a few pairs of samples a call.
#ifndef HONE_CORE_RACE_PAIRS_H_
#define HONE_CORE_RACE_PAIRS_H_

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/race.h"
#include "core/race_tally.h"
#include "core/result.h"

namespace hone {

struct PairTimes {
  double a = 0;  // seconds of a run
  double b = 0;
};

// Takes `pairs` pairs of samples, each over `repeats` runs; the first of them has number `first`.
using TakePairs =
    std::function<StatusOr<std::vector<PairTimes>>(int first, int pairs, int repeats)>;

// Measured as a worker's race is. `now` are seconds. It ends early where `interrupted` becomes true
// and there are as many pairs as the options want at least. `most_repeats` is 1 where a sample has
// to be a single run.
inline StatusOr<RaceReport> RacePairs(const TakePairs& take, const std::function<double()>& now,
                                      const RaceOptions& options,
                                      const std::atomic<bool>* interrupted = nullptr,
                                      int most_repeats = std::numeric_limits<int>::max()) {
  // A call takes about so long, so that the clock and Ctrl-C are looked at between two.
  constexpr double kCallSeconds = 0.5;
  constexpr int kMostPairsACall = 64;
  const double start = now();
  // The first run of each finds caches and pages cold. The second tells how often to repeat.
  double longest = 0;
  for (int round = 0; round < 2; ++round) {
    const auto warm = take(round, 1, 1);
    if (!warm) return tl::unexpected(warm.error());
    longest = std::max(warm->front().a, warm->front().b);
  }
  const double repeats =
      std::clamp(std::ceil(options.least_sample_seconds / std::max(longest, 1e-7)), 1.0,
                 static_cast<double>(most_repeats));
  const double pair_seconds = std::max(2 * repeats * longest, 1e-6);
  const int a_call =
      static_cast<int>(std::clamp(kCallSeconds / pair_seconds, 1.0, double{kMostPairsACall}));
  RaceTally tally(options);
  bool over = false;
  while (!over) {
    const auto times =
        take(tally.pairs(), std::min(a_call, tally.PairsToNextLook()), static_cast<int>(repeats));
    if (!times) return tl::unexpected(times.error());
    for (const PairTimes& pair : *times) {
      tally.Add(std::max(pair.a, 1e-12), std::max(pair.b, 1e-12));
    }
    over = tally.IsOver(now() - start) ||
           (interrupted != nullptr && *interrupted && tally.pairs() >= options.least_pairs);
  }
  RaceReport report;
  tally.Tell(&report);
  return report;
}

}  // namespace hone

#endif  // HONE_CORE_RACE_PAIRS_H_
