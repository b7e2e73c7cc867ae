#include "loops/ranked_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hone::loops {
namespace {

constexpr size_t kProposed = 400;  // at a time
constexpr size_t kMeasured = 8;    // of these
constexpr int kFewestSearches =
    5;  // without anything new, before it is believed that there is none

struct Proposal {
  double value = 0;  // the model's
  std::vector<float> features;
  Scheduled scheduled;
};

}  // namespace

Status SearchRanked(const Catalogue& catalogue, SearchOptions options, const LoopsCostModel& model,
                    const Machine& machine,
                    const std::function<std::optional<double>(const Scheduled&)>& measure,
                    const std::function<bool()>& over) {
  const auto stock = Apply(catalogue.program(), catalogue.default_schedule());
  HONE_CHECK(stock);
  const std::vector<float> by_default = ScheduleFeatures(*stock, machine);
  std::set<std::vector<float>> measured = {by_default};
  for (int without = 0; !over() && without < kFewestSearches; ++options.seed) {
    std::map<std::string, double> valued;
    std::vector<Proposal> proposals;
    size_t asked = 0;
    const Status searched = SearchSchedules(
        catalogue, options,
        [&](const Scheduled& scheduled) -> std::optional<double> {
          ++asked;
          const auto [at, is_new] = valued.emplace(ScheduleText(scheduled.schedule()), 0);
          if (is_new) {
            Proposal proposal{0, ScheduleFeatures(scheduled, machine), scheduled};
            at->second = proposal.value = model.Predict(proposal.features, by_default);
            proposals.push_back(std::move(proposal));
          }
          return at->second;
        },
        [&] { return over() || valued.size() >= kProposed || asked >= 10 * kProposed; });
    if (!searched) return searched;
    std::stable_sort(proposals.begin(), proposals.end(),
                     [](const Proposal& a, const Proposal& b) { return a.value < b.value; });
    size_t now = 0;
    for (const Proposal& proposal : proposals) {
      if (now == kMeasured || over()) break;
      if (!measured.insert(proposal.features).second) continue;
      ++now;
      measure(proposal.scheduled);
    }
    without = now == 0 ? without + 1 : 0;
  }
  return {};
}

}  // namespace hone::loops
