#include "tune/choose_implementations.h"

#include <algorithm>
#include <utility>

namespace hone::tune {
namespace {

bool Has(const PassSequence& passes, const std::string& pass) {
  return std::find(passes.begin(), passes.end(), pass) != passes.end();
}

PassSequence With(PassSequence passes, const PassSequence& more) {
  passes.insert(passes.end(), more.begin(), more.end());
  return passes;
}

}  // namespace

ChooseResult ChooseImplementations(const PassSequence& candidates, const RaceFunction& race,
                                   const ChooseOptions& options) {
  ChooseResult result;
  // The speed-up of what is surely faster behind `against` than that alone; else 0.
  const auto gain = [&](const PassSequence& against, const PassSequence& more) {
    const StatusOr<RaceReport> report = race(against, With(against, more));
    const bool kept = report && !report->same_executable && report->low > options.least_gain;
    return kept ? report->speedup : 0;
  };
  std::vector<std::pair<double, PassSequence>> winners;
  const auto enter = [&](const PassSequence& passes) {
    if (const double speedup = gain({}, passes); speedup > 0) winners.emplace_back(speedup, passes);
  };
  if (options.together.size() > 1) enter(options.together);
  for (const std::string& candidate : candidates) enter({candidate});
  std::stable_sort(winners.begin(), winners.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [speedup, winner] : winners) {
    if (result.passes.empty()) {
      result.passes = winner;  // was raced alone
      continue;
    }
    PassSequence more;
    for (const std::string& pass : winner) {
      if (!Has(result.passes, pass)) more.push_back(pass);
    }
    if (!more.empty() && gain(result.passes, more) > 0) result.passes = With(result.passes, more);
  }
  if (result.passes.empty()) return result;
  StatusOr<RaceReport> last = race({}, result.passes);
  if (!last || last->same_executable || last->low <= 1) {
    result.passes.clear();
    return result;
  }
  result.race = *last;
  return result;
}

}  // namespace hone::tune
