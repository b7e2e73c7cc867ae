#include "loops/search.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/fnv.h"
#include "search/searcher.h"

namespace hone::loops {
namespace {

constexpr size_t kAsked = 8;
constexpr double kRejected = 10;  // what is worse than all that runs

Fingerprint StateOf(const Scheduled& scheduled) {
  const std::string text = ScheduleText(scheduled.schedule());
  return {Fnv1a(text), Fnv1a(text + "2")};
}

StatusOr<const SearcherInfo*> SearcherFor(const SearchOptions& options) {
  const auto serves = [&](const SearcherInfo& info) {
    return info.needs == Needs::kNothing || info.needs == Needs::kPrior;
  };
  const SearcherInfo* const info = FindSearcher(options.search);
  if (info == nullptr || !serves(*info)) {
    std::string names;
    for (const SearcherInfo& known : Searchers()) {
      if (serves(known)) names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    return MakeError(ErrorCode::kInvalidInput,
                     "there is no searcher " + options.search + " for loops; there are " + names);
  }
  if (info->needs == Needs::kPrior && options.policy == nullptr) {
    return MakeError(ErrorCode::kInvalidInput, "the searcher " + options.search +
                                                   " follows a trained policy, and there is none; "
                                                   "make one with `hone train --loops`");
  }
  return info;
}

}  // namespace

Status SearchSchedules(const Catalogue& catalogue, const SearchOptions& options,
                       const std::function<std::optional<double>(const Scheduled&)>& measure,
                       const std::function<bool()>& over) {
  const auto info = SearcherFor(options);
  if (!info) return tl::unexpected(info.error());
  SearchProblem problem;
  for (size_t i = 0; i < std::min<size_t>(catalogue.size(), 60000); ++i) {
    problem.actions.push_back(static_cast<Action>(i));
  }
  Sequence first;
  for (const size_t number : catalogue.NumbersOf(catalogue.default_schedule())) {
    first.push_back(static_cast<Action>(number));
  }
  problem.longest = options.longest != 0
                        ? options.longest
                        : std::max(first.size(), 5 * catalogue.program().nests.size());
  if (options.from_default && first.size() <= problem.longest) problem.starts.push_back(first);
  if (options.policy != nullptr) problem.prior = options.policy->MakePrior(catalogue);
  const Scheduled plain(catalogue.program());
  problem.initial_value = measure(plain).value_or(kRejected);
  problem.initial_state = StateOf(plain);
  const auto walk = [&](const Sequence& sequence) {
    Trial trial;
    trial.sequence = sequence;
    Scheduled scheduled = plain;
    double value = problem.initial_value;
    Observed observed;
    for (const Action action : sequence) {
      ActionResult result;
      result.action = action;
      const std::optional<Step> step = catalogue.Decide(scheduled, action);
      if (step && !over()) {
        HONE_CHECK(scheduled.Apply(*step));
        // What cannot be compiled now may be once more is decided: only its value is not known.
        result.changed = true;
        value = measure(scheduled).value_or(value);
        observed.passes.push_back(action);
      }
      result.value = value;
      result.state = StateOf(scheduled);
      if (problem.prior != nullptr) result.observed = observed;
      trial.results.push_back(std::move(result));
    }
    return trial;
  };
  const auto searcher = (*info)->make(problem, options.seed);
  while (!over()) {
    const std::vector<Sequence> asked = searcher->Ask(kAsked);
    if (asked.empty()) break;
    for (const Sequence& sequence : asked) {
      if (over()) break;
      searcher->Tell(walk(sequence));
    }
  }
  return {};
}

}  // namespace hone::loops
