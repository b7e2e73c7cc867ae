#include "tune/conclude.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/ended.h"
#include "tune/lessons.h"

namespace hone::tune {
namespace {

constexpr double kClose = 0.03;  // finalists within it are raced against each other
constexpr size_t kMostClose = 3;
constexpr size_t kMostCompared = 4;  // finalists, until one computes the same
constexpr double kLeastComparing = 10;
constexpr double kNotFaster = 1.005;  // what makes less of a difference does not matter
constexpr double kSurelyNot = 1.02;   // as far as the interval says
constexpr double kWide = 0.25;        // an undecided interval as wide as this: a noisy machine
constexpr double kMinimiseShare = 0.4;
constexpr double kLeastConfirm = 2;
constexpr double kMostConfirm = 20;
constexpr int kConfirmPairs = 20;
constexpr int kProcesses = 3;
constexpr int kOnceMore = 2;      // races so wide that they decide nothing are repeated, at most
constexpr double kMuchFaster = 1.2;
constexpr double kBeyond = 0.4;   // of the budget, for one race of what is that
constexpr double kRestart = 0.5;  // seconds

class Conclusion {
 public:
  Conclusion(Measurer& measurer, const Evaluator& clock, const Space& space,
             const TuneOptions& options, const ConcludeOptions& concluding, TuneResult& result)
      : measurer_(measurer),
        clock_(clock),
        space_(space),
        options_(options),
        concluding_(concluding),
        result_(result),
        end_(clock.Seconds() + concluding.seconds) {}

  void Run(std::vector<Finalist> list) {
    if (list.empty()) return;
    result_.reason.clear();
    if (!Hurried()) {
      Report("choose");
      PlayOff(list);
      // What is left is for verifying and confirming.
      const double needed = 4 * measurer_.CompileSeconds() + 20 * measurer_.RunSeconds();
      if (Left() > needed) Minimise(list.front());
      // It may have come to one of those behind it.
      list.erase(std::remove_if(list.begin() + 1, list.end(),
                                [&](const Finalist& other) {
                                  return other.executable == list.front().executable;
                                }),
                 list.end());
    }
    Settle(list);
    for (size_t i = next_; i < list.size(); ++i) {
      result_.others.push_back({list[i].plan, std::exp(-list[i].value)});
    }
  }

 private:
  double Left() const { return end_ - clock_.Seconds(); }
  bool Hurried() const { return options_.interrupted != nullptr && *options_.interrupted; }

  void Report(std::string_view phase) const {
    if (!options_.progress) return;
    options_.progress({phase, clock_.Seconds() - concluding_.start, measurer_.evaluations(),
                       measurer_.RunSeconds(),
                       result_.improvements.empty() ? 1 : result_.improvements.back().speedup});
  }

  // Those that are close, one after another against the champion so far.
  void PlayOff(std::vector<Finalist>& list) {
    size_t champion = 0;
    for (size_t i = 1; i < std::min(list.size(), kMostClose); ++i) {
      if (list[i].value > list[champion].value + kClose || Left() < 0.8 * concluding_.seconds) {
        break;
      }
      const StatusOr<RaceReport> race =
          measurer_.Race(list[champion].plan, list[i].plan, Look::kLong);
      if (race && !race->same_executable && race->low > 1) champion = i;
    }
    std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(champion),
                list.begin() + static_cast<std::ptrdiff_t>(champion) + 1);
  }

  // Leaves out what makes no difference: whole stages, then halves of what is left of each.
  void Minimise(Finalist& winner) {
    minimise_until_ = clock_.Seconds() + kMinimiseShare * Left();
    assignment_ = AssignmentOf(space_, winner.plan);
    const Prepared prepared = measurer_.Prepare(winner.plan);
    if (!prepared.error.empty()) return;
    executable_ = prepared.executable;
    // A plan that was given may decide what the space does not have.
    if (const TunePlan known = PlanOf(space_, assignment_); !(known == winner.plan)) {
      const Prepared same = measurer_.Prepare(known);
      if (!same.error.empty() || same.executable != executable_) return;
    }
    for (const Stage stage : AllStages().list) {
      std::vector<size_t> changed;
      for (size_t i = 0; i < assignment_.size(); ++i) {
        const bool off = assignment_[i] != space_.variables[i].stock;
        if (off && space_.decisions[i].stage == stage) changed.push_back(i);
      }
      RaceReport race;
      if (changed.empty() || Shrink(changed, &race)) continue;
      if (race.pairs == 0) continue;  // there was no time to find out
      const auto left = std::count_if(changed.begin(), changed.end(), [&](size_t i) {
        return assignment_[i] != space_.variables[i].stock;
      });
      result_.gains.push_back({stage, static_cast<int>(left), race});
    }
    const TunePlan small = PlanOf(space_, assignment_);
    if (small.empty()) return;
    winner.plan = small;
    winner.executable = executable_;
  }

  // True where all of these could be left out. Otherwise `race` says what they are worth.
  bool Shrink(const std::vector<size_t>& changed, RaceReport* race) {
    if (clock_.Seconds() > minimise_until_ || Hurried()) return false;
    choices::Assignment without = assignment_;
    for (size_t i : changed) without[i] = space_.variables[i].stock;
    const TunePlan plan = PlanOf(space_, without);
    const Prepared prepared = measurer_.Prepare(plan);
    if (prepared.error.empty() && prepared.executable == executable_) {
      assignment_ = without;
      return true;
    }
    if (prepared.error.empty()) {
      const StatusOr<RaceReport> raced =
          measurer_.Race(plan, PlanOf(space_, assignment_), Look::kLong);
      // So few pairs: it was clearly slower with these.
      const bool surely =
          raced && (raced->high < kSurelyNot || (raced->pairs < 6 && raced->speedup < 1));
      const bool out = raced && (raced->same_executable || (raced->speedup < kNotFaster && surely));
      if (out) {
        assignment_ = without;
        executable_ = prepared.executable;
        return true;
      }
      if (raced && race != nullptr) *race = *raced;
    }
    if (changed.size() == 1) return false;
    const auto middle = changed.begin() + static_cast<std::ptrdiff_t>(changed.size() / 2);
    Shrink({changed.begin(), middle}, nullptr);
    Shrink({middle, changed.end()}, nullptr);
    return false;
  }

  // The first that computes the same and is faster in fresh processes is kept. One that is not
  // gives way to the next while there is time; one that does not run there, to one more whatever is
  // left. Where none is kept the result is that of the first that ran.
  void Settle(const std::vector<Finalist>& list) {
    std::optional<TuneResult> lost;
    bool first = true;
    while (const Finalist* const chosen = options_.verify ? NextEqual(list) : Next(list)) {
      const Confirmed confirmed = Confirm(*chosen);
      if (confirmed == Confirmed::kKept) return;
      const bool ran = confirmed == Confirmed::kLost;
      if (ran && !lost) lost = result_;
      // An estimate is the same once more, and those behind it are worse.
      if (ran && options_.estimated) break;
      if ((ran || !first) && (Hurried() || Left() < ConfirmSeconds() / kProcesses)) break;
      first = false;
      result_.gains.clear();  // were this one's
    }
    if (!lost) return;
    lost->rejected = std::move(result_.rejected);
    result_ = *std::move(lost);
  }

  const Finalist* Next(const std::vector<Finalist>& list) {
    return next_ < std::min(list.size(), kMostCompared) ? &list[next_++] : nullptr;
  }

  // Null where no further one is known to compute the same.
  const Finalist* NextEqual(const std::vector<Finalist>& list) {
    if (next_ == std::min(list.size(), kMostCompared)) return nullptr;
    Report("verify");
    CompareOptions comparing = options_.compare;
    comparing.stop = options_.interrupted;
    comparing.budget_seconds =
        std::min(comparing.budget_seconds, std::max(kLeastComparing, 2 * Left()));
    comparing.grace_seconds = ComparingGrace(measurer_, options_);
    const bool hurried_before = Hurried();
    while (const Finalist* const finalist = Next(list)) {
      StatusOr<ComparisonReport> report = measurer_.Compare({}, finalist->plan, comparing);
      if (!report) {
        ComparisonReport broken;
        broken.method = "none";
        broken.reason = "the comparison broke down: " + report.error().message;
        report = broken;
      }
      result_.verification = *report;
      result_.verified = report->verdict == Verdict::kEqual       ? "true"
                         : report->verdict == Verdict::kDifferent ? "false"
                                                                  : "unknown";
      if (report->verdict == Verdict::kEqual) return finalist;
      result_.rejected.push_back(
          fmt::format("{:.2f} times as fast{}, but {}: {}", std::exp(-finalist->value),
                      options_.estimated ? " by the estimate" : "",
                      report->verdict == Verdict::kDifferent ? "it computes something else"
                                                             : "not known to compute the same",
                      report->reason));
      result_.gains.clear();  // were the first one's
      if (Left() < 0 || (Hurried() && !hurried_before)) break;
    }
    result_.reason = fmt::format("what {} is not verified: {}",
                                 options_.estimated ? "has a lower estimate" : "is faster",
                                 result_.verification.reason);
    return nullptr;
  }

  double LeastRace() const { return std::max(kLeastConfirm, 5 * measurer_.RunSeconds()); }
  double ConfirmSeconds() const {
    return kProcesses * (2 * measurer_.CompileSeconds() + kRestart + LeastRace());
  }

  enum class Confirmed { kKept, kLost, kDoesNotRun };

  // In several fresh processes where there is time: where memory and threads come to lie is decided
  // once in each, and what is faster in one may be slower in the next.
  Confirmed Confirm(const Finalist& chosen) {
    Report("confirm");
    const double least = LeastRace();
    const double begin = 2 * measurer_.CompileSeconds() + kRestart;
    // An estimate is the same in each.
    const bool once = options_.estimated || Hurried() || Left() < ConfirmSeconds();
    const int processes = once ? 1 : kProcesses;
    std::vector<RaceReport> races;
    int once_more = kOnceMore;
    for (int left = processes; left > 0; --left) {
      if (Status fresh = measurer_.Restart(); !fresh) {
        return DoesNotRun("no fresh process to confirm it in: " + fresh.error().message);
      }
      // One that follows a race that decided nothing has twice as many pairs.
      const double enough = once_more < kOnceMore ? 2 * least : least;
      const StatusOr<RaceReport> race = RaceOnce(chosen, enough, Left() / left - begin);
      if (!race) {
        return DoesNotRun("it does not run in a fresh process: " + race.error().message);
      }
      if (IsTooWide(*race) && once_more > 0 && !Hurried() &&
          (Left() > begin + least || IsWorthWaiting(*race, begin + 2 * least))) {
        once_more = Left() > begin + least ? once_more - 1 : 0;
        ++left;
        continue;
      }
      races.push_back(*race);
      if (race->same_executable || race->low <= 1 || Hurried()) break;
    }
    Judge(chosen, OfAll(races));
    return result_.kept ? Confirmed::kKept : Confirmed::kLost;
  }

  Confirmed DoesNotRun(std::string why) {
    result_.reason = std::move(why);
    result_.rejected.push_back(result_.reason);
    return Confirmed::kDoesNotRun;
  }

  // A race may take four times its seconds until it has six pairs, fewer of which have no interval.
  StatusOr<RaceReport> RaceOnce(const Finalist& chosen, double least, double seconds) {
    seconds = Hurried() ? least : std::clamp(0.8 * seconds, least, std::max(least, kMostConfirm));
    return Hurried() || Left() < kConfirmPairs * measurer_.RunSeconds()
               ? measurer_.Race({}, chosen.plan, seconds, 6)
               : measurer_.Race({}, chosen.plan, seconds, kConfirmPairs, /*patient=*/true);
  }

  // The middle one, with an interval that holds those of all; or the last, where that ended it.
  static RaceReport OfAll(std::vector<RaceReport> races) {
    if (races.back().same_executable || races.back().low <= 1) return races.back();
    std::sort(races.begin(), races.end(),
              [](const RaceReport& a, const RaceReport& b) { return a.speedup < b.speedup; });
    RaceReport all = races[races.size() / 2];
    for (const RaceReport& race : races) {
      all.low = std::min(all.low, race.low);
      all.high = std::max(all.high, race.high);
    }
    return all;
  }

  // It decides nothing: something else was at work.
  static bool IsTooWide(const RaceReport& race) {
    return !race.same_executable && race.low <= 1 && race.high - race.low > kWide;
  }

  // Whether so many seconds beyond the budget are well spent on what is likely to be much faster.
  bool IsWorthWaiting(const RaceReport& race, double seconds) const {
    return race.speedup >= kMuchFaster && seconds <= kBeyond * options_.budget_seconds;
  }

  void Judge(const Finalist& chosen, const RaceReport& race) {
    result_.race = race;
    // An estimate has no noise, and no model is that exact.
    result_.kept = !race.same_executable && race.low > (options_.estimated ? kNotFaster : 1);
    if (result_.kept) {
      result_.plan = chosen.plan;
      if (result_.gains.empty()) AllOfOneStage(chosen.plan);
      result_.lessons = LessonsOf(ChoicesOf(space_, AssignmentOf(space_, chosen.plan)),
                                  std::log(race.speedup), options_.program);
      result_.reason.clear();  // of those before it
      return;
    }
    if (options_.estimated) {
      result_.reason =
          fmt::format("the lowest estimate is {:.4f} times as fast: no difference", race.speedup);
      return;
    }
    const std::string figures =
        race.same_executable ? "it makes the same executable"
                             : fmt::format("{:.3f} times as fast, 95 % interval [{:.3f}, {:.3f}]",
                                           race.speedup, race.low, race.high);
    result_.reason = IsTooWide(race)
                         ? fmt::format("the machine is too noisy to decide: {}; {}", figures,
                                       AgainstNoise(race.seconds_a))
                         : "what was faster was not so again in a fresh process: " + figures;
    result_.rejected.push_back(result_.reason);
  }

  // What a stage is worth that all choices are of.
  void AllOfOneStage(const TunePlan& plan) {
    const std::vector<NamedChoice> choices = ChoicesOf(space_, AssignmentOf(space_, plan));
    const bool one = std::all_of(choices.begin(), choices.end(), [&](const NamedChoice& choice) {
      return choice.stage == choices.front().stage;
    });
    if (one && !choices.empty()) {
      result_.gains.push_back(
          {choices.front().stage, static_cast<int>(choices.size()), result_.race});
    }
  }

  Measurer& measurer_;
  const Evaluator& clock_;
  const Space& space_;
  const TuneOptions& options_;
  const ConcludeOptions& concluding_;
  TuneResult& result_;
  const double end_;
  double minimise_until_ = 0;
  choices::Assignment assignment_;  // being minimised
  std::string executable_;          // its
  size_t next_ = 0;                 // finalist whose turn has not come
};

}  // namespace

void Conclude(Measurer& measurer, const Evaluator& clock, const Space& space,
              std::vector<Finalist> finalists, const TuneOptions& options,
              const ConcludeOptions& concluding, TuneResult& result) {
  Conclusion(measurer, clock, space, options, concluding, result).Run(std::move(finalists));
}

}  // namespace hone::tune
