#include "tune/choose_implementations.h"

#include <algorithm>
#include <utility>

namespace hone::tune {
namespace {

PassSequence With(PassSequence passes, const std::string& pass) {
  passes.push_back(pass);
  return passes;
}

// Null where the race could not be held.
const RaceReport* Try(const PassSequence& against, const std::string& pass,
                      const RaceFunction& race, const ChooseOptions& options,
                      ChooseResult* result) {
  ChooseTrial trial{against, pass};
  StatusOr<RaceReport> report = race(against, With(against, pass));
  if (report) {
    trial.race = *report;
    trial.kept = !report->same_executable && report->low > options.least_gain;
  } else {
    trial.error = report.error().message;
  }
  result->trials.push_back(std::move(trial));
  return report ? &result->trials.back().race : nullptr;
}

}  // namespace

ChooseResult ChooseImplementations(const PassSequence& candidates, const RaceFunction& race,
                                   const ChooseOptions& options) {
  ChooseResult result;
  std::vector<std::pair<double, std::string>> winners;
  for (const std::string& candidate : candidates) {
    const RaceReport* report = Try({}, candidate, race, options, &result);
    if (report != nullptr && result.trials.back().kept) {
      winners.push_back({report->speedup, candidate});
    }
  }
  std::stable_sort(winners.begin(), winners.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [speedup, winner] : winners) {
    if (result.passes.empty()) {
      result.passes.push_back(winner);  // was raced alone
      continue;
    }
    Try(result.passes, winner, race, options, &result);
    if (result.trials.back().kept) result.passes.push_back(winner);
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
