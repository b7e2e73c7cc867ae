#include "tune/tasks.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "tune/ended.h"
#include "tune/measurer.h"

namespace hone::tune {
namespace {

constexpr double kMostWeighing = 0.3;     // of the time, for timing tasks
constexpr double kLeastShare = 0.003;     // of the run: what takes less is not worth a task
constexpr double kLeastSeconds = 0.3;     // for a task
constexpr double kLeastGain = 1.005;      // of a choice in a task
constexpr double kMargin = 0.003;         // that a choice more makes it better by, in logarithms
constexpr double kMostCombined = 0.3;     // of a task's time, for putting choices together
constexpr double kConfirmSeconds = 0.15;  // of racing what came of it once more
constexpr int kConfirmPairs = 12;
constexpr double kMostCompareSeconds = 5;
constexpr double kLeastSaved = 0.002;  // of the run, for a choice to be made in the whole

bool IsNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// What to try first: other ways to compute it, who computes it, which passes leave it alone, the
// rest.
int TurnOf(const Decision& decision) {
  if (decision.kind == Decision::Kind::kPass) return 0;
  const bool number = IsNumber(decision.values.back());
  if (decision.stage == Stage::kTiles && !number) return 1;
  if (decision.kind == Decision::Kind::kFlag) return IsWithoutPass(decision.name) ? 2 : 3;
  return number ? 4 : 5;
}

class OneTask {
 public:
  OneTask(Evaluator& evaluator, TaskReport& report, const TuneOptions& tuning, double seconds,
          const std::function<bool()>& stopped)
      : evaluator_(evaluator),
        options_(Of(tuning, report.task, seconds)),
        stopped_(stopped),
        until_(evaluator.Seconds() + seconds),
        combine_at_(evaluator.Seconds() + (1 - kMostCombined) * seconds),
        measurer_(evaluator, space_, options_),
        report_(report) {}

  void Run() {
    if (List()) {
      TrySingles();
      Combine();
    }
    report_.evaluations = measurer_.evaluations();
    report_.races = measurer_.races();
    report_.phases = measurer_.phases();
  }

 private:
  static TuneOptions Of(const TuneOptions& tuning, const std::string& name, double seconds) {
    TuneOptions options = tuning;
    options.program = name;
    options.budget_seconds = seconds;
    options.known.clear();
    if (tuning.recall) options.known = tuning.recall(name);
    options.estimate = nullptr;
    options.compare.given.clear();
    return options;
  }

  bool Over(double until) const { return stopped_() || evaluator_.Seconds() >= until; }

  bool List() {
    CompileOptions compiling;
    compiling.fusion_hops = options_.fusion_hops;
    compiling.fast_math = options_.fast_math;
    compiling.deadline_seconds = ListingPatience(options_);
    const StatusOr<Compiled> listing = measurer_.Compile({}, compiling);
    if (!listing) return false;
    measurer_.KnowStock(listing->fingerprint, listing->seconds);
    measurer_.KnowRun(report_.seconds);
    if (options_.stages.Has(Stage::kImplementation)) {
      const auto alternatives = measurer_.Alternatives({true, false, options_.budget_seconds, 0});
      if (alternatives) AddAlternatives(*alternatives, options_.stages, space_);
    }
    AddListing(*listing, options_.stages, {}, space_);
    return !space_.variables.empty();
  }

  void TrySingles() {
    std::vector<size_t> order(space_.decisions.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return TurnOf(space_.decisions[a]) < TurnOf(space_.decisions[b]);
    });
    for (const size_t i : order) {
      for (uint32_t value = 0; value < space_.variables[i].choices; ++value) {
        if (value == space_.variables[i].stock) continue;
        if (Over(combine_at_)) return;
        choices::Assignment assignment = choices::StockAssignment(space_.variables);
        assignment[i] = value;
        Try(assignment, i);
      }
    }
  }

  void Try(const choices::Assignment& assignment, size_t variable) {
    const Measured measured = measurer_.Measure(PlanOf(space_, assignment), Look::kShort);
    if (measured.failed()) return;
    const Decision& decision = space_.decisions[variable];
    TaskTrial trial{{decision.stage, decision.name, decision.values[assignment[variable]]}};
    if (!measured.race.same_executable) {
      trial.speedup = measured.race.speedup;
      trial.low = measured.race.low;
      trial.high = measured.race.high;
    }
    const bool won = trial.low > 1 && trial.speedup > kLeastGain;
    // What computes something else is as if it had not been tried.
    if (won && !IsRight(assignment)) return;
    if (won) winners_.push_back({trial.speedup, variable, assignment[variable]});
    report_.trials.push_back(std::move(trial));
  }

  bool IsRight(const choices::Assignment& assignment) {
    if (!options_.verify) return true;
    CompareOptions quick = options_.compare;
    quick.inputs = 1;
    quick.stop = options_.interrupted;
    quick.budget_seconds = std::min(quick.budget_seconds, kMostCompareSeconds);
    const auto report = measurer_.Compare({}, PlanOf(space_, assignment), quick);
    return report && report->verdict != Verdict::kDifferent;
  }

  // The best first, each other one where it makes it better still.
  void Combine() {
    if (winners_.empty()) return;
    std::stable_sort(winners_.begin(), winners_.end(),
                     [](const Winner& a, const Winner& b) { return a.speedup > b.speedup; });
    choices::Assignment best = choices::StockAssignment(space_.variables);
    best[winners_[0].variable] = winners_[0].value;
    double value = -std::log(winners_[0].speedup);
    bool combined = false;
    for (size_t i = 1; i < winners_.size() && !Over(until_); ++i) {
      if (best[winners_[i].variable] != space_.variables[winners_[i].variable].stock) continue;
      choices::Assignment more = best;
      more[winners_[i].variable] = winners_[i].value;
      const Measured measured = measurer_.Measure(PlanOf(space_, more), Look::kShort);
      if (measured.failed() || measured.value > value - kMargin) continue;
      best = more;
      value = measured.value;
      combined = true;
    }
    if (combined && !IsRight(best)) return;
    const TunePlan plan = PlanOf(space_, best);
    const StatusOr<RaceReport> race = measurer_.Race({}, plan, kConfirmSeconds, kConfirmPairs);
    if (!race || race->same_executable || race->low <= 1) return;
    report_.plan = plan;
    report_.race = *race;
  }

  struct Winner {
    double speedup = 1;
    size_t variable = 0;
    uint32_t value = 0;
  };

  Evaluator& evaluator_;
  const TuneOptions options_;
  const std::function<bool()>& stopped_;
  const double until_;
  const double combine_at_;
  Space space_;
  Measurer measurer_;
  std::vector<Winner> winners_;
  TaskReport& report_;
};

// A task that was loaded and timed.
struct Weighed {
  std::unique_ptr<Evaluator> evaluator;
  TaskReport report;
};

// The dearest first. Those that there is no time for, by a guess the cheapest, are left out.
std::vector<Weighed> Weigh(Evaluator& evaluator, const std::vector<ProgramTask>& tasks,
                           double run_seconds, double until, const std::function<bool()>& stopped) {
  std::vector<std::pair<double, Weighed>> loaded;
  for (const ProgramTask& task : tasks) {
    if (stopped() || evaluator.Seconds() >= until) break;
    StatusOr<std::unique_ptr<Evaluator>> own = evaluator.OfTask(task);
    if (!own) continue;
    Weighed one;
    one.evaluator = *std::move(own);
    one.report.task = one.evaluator->Name();
    one.report.what = {"", task.what, task.places, task.runs};
    loaded.emplace_back(one.evaluator->Guess() * static_cast<double>(task.runs), std::move(one));
  }
  std::stable_sort(loaded.begin(), loaded.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Weighed> weighed;
  double all = 0;
  for (auto& [guess, one] : loaded) {
    if (stopped() || evaluator.Seconds() >= until) break;
    const StatusOr<double> took = one.evaluator->RunSeconds();
    if (!took) continue;
    one.report.seconds = *took;
    one.report.share = static_cast<double>(one.report.what.runs) * *took;  // seconds as yet
    all += one.report.share;
    weighed.push_back(std::move(one));
  }
  // What the parts take together can be more than the whole.
  all = std::max(all, run_seconds);
  for (Weighed& one : weighed) one.report.share /= all > 0 ? all : 1;
  std::stable_sort(weighed.begin(), weighed.end(), [](const Weighed& a, const Weighed& b) {
    return a.report.share > b.report.share;
  });
  return weighed;
}

void Record(const TaskReport& report, const TuneOptions& tuning) {
  if (!tuning.record_outcome) return;
  store::Outcome outcome;
  outcome.program = report.task;
  outcome.plan = HashText(report.plan);
  outcome.kept = !report.plan.empty();
  outcome.verified = "unknown";  // on one input set only
  outcome.reason = "a task: " + report.what.what;
  outcome.stock_seconds = report.race.seconds_a;
  outcome.tuned_seconds = report.race.seconds_b;
  outcome.speedup = report.race.speedup;
  outcome.low = report.race.low;
  outcome.high = report.race.high;
  tuning.record_outcome(outcome, {outcome.plan, TunePlanToJson(report.plan), {}});
}

// The share of its time that a task saves, where that is clear.
double SavedBy(const TaskTrial& trial) {
  if (trial.low <= 1 && trial.high >= 1) return 0;
  return trial.speedup > 0 ? 1 - 1 / trial.speedup : -1;
}

TunePlan Only(const Space& space, choices::Assignment assignment,
              const std::function<bool(const Decision&)>& wanted) {
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (!wanted(space.decisions[i])) assignment[i] = space.variables[i].stock;
  }
  return PlanOf(space, assignment);
}

}  // namespace

std::vector<TaskReport> TuneTasks(Evaluator& evaluator, const std::vector<ProgramTask>& tasks,
                                  const TuneOptions& tuning, double run_seconds, double seconds,
                                  const std::function<bool()>& stopped) {
  const double end = evaluator.Seconds() + seconds;
  std::vector<Weighed> weighed =
      Weigh(evaluator, tasks, run_seconds, end - (1 - kMostWeighing) * seconds, stopped);
  double shares = 0;
  for (const Weighed& task : weighed) shares += std::sqrt(task.report.share);
  std::vector<TaskReport> reports;
  for (Weighed& task : weighed) {
    const double left = end - evaluator.Seconds();
    if (stopped() || left <= 0 || task.report.share < kLeastShare) break;
    // What the dearer ones did not need is for those behind them.
    const double part = std::sqrt(task.report.share) / shares;
    shares -= std::sqrt(task.report.share);
    const double given = std::min(left, std::max(kLeastSeconds, part * left));
    OneTask(*task.evaluator, task.report, tuning, given, stopped).Run();
    Record(task.report, tuning);
    reports.push_back(std::move(task.report));
  }
  return reports;
}

Expected ExpectedOf(const std::vector<TaskReport>& tasks, const std::string& name,
                    const std::string& value) {
  Expected expected;
  for (const TaskReport& task : tasks) {
    for (const TaskTrial& trial : task.trials) {
      if (trial.choice.name != name || trial.choice.value != value) continue;
      expected.tried = true;
      expected.saved += task.share * SavedBy(trial);
    }
  }
  return expected;
}

std::vector<TunePlan> Compose(const Space& space, const std::vector<TaskReport>& tasks) {
  std::set<std::pair<SiteKey, std::string>> won;  // sites' choices that are in a task's best plan
  for (const TaskReport& task : tasks) {
    for (const CompileChoice& choice : task.plan.compile.choices)
      won.insert({choice.key, choice.value});
  }
  choices::Assignment all = choices::StockAssignment(space.variables);
  for (size_t i = 0; i < all.size(); ++i) {
    const Decision& decision = space.decisions[i];
    double most = kLeastSaved;
    for (uint32_t value = 0; value < space.variables[i].choices; ++value) {
      if (value == space.variables[i].stock) continue;
      const std::string& text = decision.values[value];
      if (decision.kind == Decision::Kind::kSite && won.count({decision.key, text}) == 0) continue;
      const Expected expected = ExpectedOf(tasks, decision.name, text);
      if (expected.saved <= most) continue;
      most = expected.saved;
      all[i] = value;
    }
  }
  std::vector<TunePlan> plans;
  const auto add = [&](const TunePlan& plan) {
    const bool known = std::find(plans.begin(), plans.end(), plan) != plans.end();
    if (!plan.empty() && !known) plans.push_back(plan);
  };
  add(PlanOf(space, all));
  add(Only(space, all, [](const Decision& one) { return one.kind != Decision::Kind::kFlag; }));
  add(Only(space, all, [](const Decision& one) { return one.kind == Decision::Kind::kPass; }));
  return plans;
}

}  // namespace hone::tune
