#include "loops/race.h"

#include <chrono>

namespace hone::loops {
namespace {

constexpr int kMostRepeats = 100000;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

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
    const auto raced = RacePairs(take, Now, options, interrupted, cold ? 1 : kMostRepeats);
    if (!raced) return raced;
    report = *raced;
  }
  report.compile_seconds_a = seconds[0];
  report.compile_seconds_b = seconds[1];
  return report;
}

}  // namespace hone::loops
