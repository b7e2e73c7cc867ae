#include "loops/race.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/race_tally.h"

namespace hone::loops {
namespace {

// A call takes about so long, so that the clock and Ctrl-C are looked at between two.
constexpr double kCallSeconds = 0.5;
constexpr int kMostPairsACall = 64;
constexpr double kMostRepeats = 100000;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

StatusOr<RaceReport> RacePairs(const TakePairs& take, const RaceOptions& options, int most_repeats,
                               const std::atomic<bool>* interrupted) {
  const double start = Now();
  // The first run of each finds caches and pages cold. The second tells how often to repeat.
  double longest = 0;
  for (int round = 0; round < 2; ++round) {
    const auto warm = take(round, 1, 1);
    if (!warm) return tl::unexpected(warm.error());
    longest = std::max(warm->front().a, warm->front().b);
  }
  const double repeats =
      std::clamp(std::ceil(options.least_sample_seconds / std::max(longest, 1e-7)), 1.0,
                 std::min(kMostRepeats, static_cast<double>(most_repeats)));
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
    over = tally.IsOver(Now() - start) ||
           (interrupted != nullptr && *interrupted && tally.pairs() >= options.least_pairs);
  }
  RaceReport report;
  tally.Tell(&report);
  return report;
}

StatusOr<RaceReport> Race(Generator& generator, const Kernel& a, const Kernel& b,
                          const RaceOptions& options, bool cold, int threads,
                          const std::atomic<bool>* interrupted) {
  double seconds[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const auto compiled = generator.Compile(i == 0 ? a : b);
    if (!compiled) return tl::unexpected(compiled.error());
    seconds[i] = compiled->seconds;
  }
  const InputChoice inputs{0, options.seed, 0};
  RaceReport report;
  report.same_executable = a.name == b.name;
  if (!report.same_executable) {
    const auto take = [&](int first, int pairs, int repeats) {
      return generator.Time(a, b, inputs, first, pairs, repeats, cold, threads);
    };
    const auto raced = RacePairs(take, options, cold ? 1 : 1 << 30, interrupted);
    if (!raced) return raced;
    report = *raced;
  }
  report.compile_seconds_a = seconds[0];
  report.compile_seconds_b = seconds[1];
  return report;
}

}  // namespace hone::loops
