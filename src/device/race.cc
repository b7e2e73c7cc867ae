#include "device/race.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "core/race_tally.h"

namespace hone::device {
namespace {

// A call takes about so long, so that the clock and Ctrl-C are looked at between two.
constexpr double kCallSeconds = 0.5;
constexpr int kMostPairsACall = 64;

}  // namespace

StatusOr<RaceReport> RacePairs(const TakePairs& take, const std::function<double()>& now,
                               const RaceOptions& options, const std::atomic<bool>* interrupted) {
  const double start = now();
  RaceReport report;
  // The first run of each finds caches and pages cold. The second tells how often to repeat.
  double longest = 0;
  for (int round = 0; round < 2; ++round) {
    const auto warm = take(round, 1, 1);
    if (!warm) return tl::unexpected(warm.error());
    longest = std::max(warm->front().a, warm->front().b);
  }
  const double repeats = std::ceil(options.least_sample_seconds / std::max(longest, 1e-7));
  const double pair_seconds = 2 * std::max(1.0, repeats) * longest;
  const int a_call = static_cast<int>(
      std::clamp(kCallSeconds / std::max(pair_seconds, 1e-6), 1.0, double{kMostPairsACall}));
  RaceTally tally(options);
  bool over = false;
  while (!over) {
    const auto times = take(tally.pairs(), std::min(a_call, tally.PairsToNextLook()),
                            static_cast<int>(std::max(1.0, repeats)));
    if (!times) return tl::unexpected(times.error());
    for (const PairTimes& pair : *times) tally.Add(pair.a, std::max(pair.b, 1e-12));
    over = tally.IsOver(now() - start) ||
           (interrupted != nullptr && *interrupted && tally.pairs() >= options.least_pairs);
  }
  tally.Tell(&report);
  return report;
}

StatusOr<RaceReport> Race(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
                          const DeviceInputs& inputs, const RaceOptions& options,
                          const std::atomic<bool>* interrupted) {
  const auto compiled_a = device.Compile(a, options.compile_seconds);
  if (!compiled_a) return tl::unexpected(compiled_a.error());
  const auto compiled_b = device.Compile(b, options.compile_seconds);
  if (!compiled_b) return tl::unexpected(compiled_b.error());
  RaceReport report;
  // Not by PJRT_Executable_Fingerprint: it is equal for equal executables, but nothing keeps a
  // plugin from giving different ones the same.
  report.same_executable = a.name == b.name;
  if (!report.same_executable) {
    const auto take = [&](int first, int pairs, int repeats) {
      return device.Time(a, b, inputs, first, pairs, repeats);
    };
    const auto now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
    };
    const auto raced = RacePairs(take, now, options, interrupted);
    if (!raced) return raced;
    report = *raced;
  }
  report.compile_seconds_a = *compiled_a;
  report.compile_seconds_b = *compiled_b;
  return report;
}

}  // namespace hone::device
