#include "tune/tune_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "tune/choose_implementations.h"
#include "tune/promise.h"
#include "tune/tasks.h"

namespace hone::tune {
namespace {

constexpr double kMargin = 0.003;        // that a new best is better by, in logarithms of time
constexpr double kPromising = 0.004;     // better than the best by as much: a long look
constexpr double kGreedyShare = 0.5;     // of the search, for racing alternatives
constexpr double kPromisingShare = 0.7;  // the same, for those that promise much
constexpr double kKernelsShare = 0.3;    // of what is left, for compiling all kernels once more
// LLVM writes loops of known length out, and then makes no vectors of them.
constexpr char kNoUnrolling[] = "xla_backend_extra_options.xla_cpu_disable_loop_unrolling";

}  // namespace

TuneRun::TuneRun(Evaluator& evaluator, const TuneOptions& options)
    : evaluator_(evaluator),
      options_(options),
      start_(evaluator.Seconds()),
      measurer_(evaluator, space_, options),
      lessons_(options.lessons) {}

void TuneRun::Report(std::string_view phase) const {
  if (!options_.progress) return;
  options_.progress({phase, Elapsed(), measurer_.evaluations(), measurer_.RunSeconds(),
                     std::exp(-finalists_.best_value())});
}

std::optional<std::string> TuneRun::WhyNotTunable(int64_t failures) const {
  if (measurer_.RunSeconds() > options_.most_run_seconds) {
    return fmt::format("a run takes {:.1f} s, more than {:.1f} s: too long to measure",
                       measurer_.RunSeconds(), options_.most_run_seconds);
  }
  if (measurer_.RunSeconds() == 0 && measurer_.failures() >= failures) {
    return "nothing could be measured here: " + last_error_;
  }
  return std::nullopt;
}

bool TuneRun::Stopped(double until) {
  if (Interrupted()) {
    result_.stop = TuneStop::kInterrupted;
  } else if (WhyNotTunable()) {
    result_.stop = TuneStop::kNotTunable;
  } else if (options_.budget_evaluations > 0 &&
             measurer_.evaluations() >= options_.budget_evaluations) {
    result_.stop = TuneStop::kEvaluations;
  } else if (Elapsed() + 0.5 * measurer_.UsualSeconds() >= std::min(until, SearchSeconds())) {
    result_.stop = TuneStop::kTime;
  } else {
    return false;
  }
  return true;
}

choices::Trial TuneRun::Examine(const choices::Assignment& assignment) {
  const TunePlan plan = PlanOf(space_, assignment);
  if (plan.empty()) return {assignment, 0, false};
  return Examine(assignment, measurer_.Prepare(plan));
}

choices::Trial TuneRun::Examine(const choices::Assignment& assignment, const Prepared& prepared) {
  const TunePlan& plan = prepared.plan;
  Measured measured = measurer_.Measure(prepared, Look::kShort);
  const double best = finalists_.best_value();
  const double doubt =
      measured.race.low > 0 ? 0.15 * std::log(measured.race.high / measured.race.low) : 0;
  const bool promising = !measured.failed() && measured.value < best - std::max(kPromising, doubt);
  if (promising && measured.look == Look::kShort) {
    measured = measurer_.Measure(prepared, Look::kLong);
  }
  if (measured.failed()) {
    last_error_ = measured.error;
    return {assignment, 0, true};
  }
  if (measured.look == Look::kShort) {
    // What is not known well is not built upon. It may be wanted where those before it fail.
    if (measured.race.low > 1 && measured.value < -kMargin) {
      behind_.Offer({plan, measured.executable, measured.value, measured.race}, kMargin);
    }
    return {assignment, std::max(measured.value, best + 1e-4), false};
  }
  const bool wrong = !Offer(plan, measured);
  return {assignment, measured.value, wrong};
}

bool TuneRun::Offer(const TunePlan& plan, const Measured& measured) {
  const Finalist finalist{plan, measured.executable, measured.value, measured.race};
  // What may well be no faster is compared at the end, if it comes to that.
  const bool faster = measured.race.low > 1 || measured.race.pairs == 0;
  if (faster && measured.value < finalists_.best_value() - kMargin) {
    const Found found = Compared(plan, measured.executable);
    if (found == Found::kDoubt) behind_.Offer(finalist, kMargin);
    if (found != Found::kNothing) return false;
  }
  const choices::Assignment before = Best();
  if (!finalists_.Offer(finalist, kMargin)) return true;
  const double speedup = std::exp(-measured.value);
  const choices::Assignment after = AssignmentOf(space_, plan);
  lessons_.Learn(ChoicesOf(space_, after), std::log(speedup), options_.program);
  result_.improvements.push_back(
      {Elapsed(), measurer_.evaluations(), speedup, FirstChanged(space_, before, after)});
  return true;
}

choices::Assignment TuneRun::Best() const {
  return finalists_.best_value() == 0 ? choices::StockAssignment(space_.variables)
                                      : AssignmentOf(space_, finalists_.list().front().plan);
}

StatusOr<Compiled> TuneRun::List(const TunePlan& plan, bool text) {
  CompileOptions compiling;
  compiling.text = text;
  compiling.fusion_hops = options_.fusion_hops;
  compiling.fast_math = options_.fast_math;
  compiling.free_entry = options_.free_entry;
  compiling.deadline_seconds = ListingPatience(options_);
  return measurer_.Compile(plan, compiling);
}

bool TuneRun::ListBest() {
  if (finalists_.list().empty() || finalists_.best_value() == 0) return false;
  const TunePlan& best = finalists_.list().front().plan;
  if (best == listed_) return false;
  listed_ = best;
  StatusOr<Compiled> listing = List(best);
  const bool grown = listing && AddListing(*listing, options_.stages, shares_, space_);
  if (grown) {
    result_.sites.insert(result_.sites.end(), listing->sites.begin(), listing->sites.end());
  }
  listed_sites_ = listing ? std::move(listing->sites) : std::vector<CompileSite>();
  return grown;
}

void TuneRun::ChooseKernels() {
  const double most = kKernelsShare * (SearchSeconds() - Elapsed());
  const auto over = [&] {
    return options_.estimated || measurer_.StockCompileSeconds() > most || Stopped(SearchSeconds());
  };
  if (options_.stages.Has(Stage::kTiles) && !over()) {
    Report("kernels");
    TunePlan plan = PlanOf(space_, Best());
    if (!plan.empty()) ListBest();
    bool some = false;
    for (const CompileSite& site : plan.empty() ? result_.sites : listed_sites_) {
      if (site.kind != CompileSiteKind::kSmallKernels) continue;
      plan.compile.choices.push_back({site.key, "join"});
      some = true;
    }
    if (some && !over()) Examine(AssignmentOf(space_, plan));
  }
  if (options_.stages.Has(Stage::kFlags) && !over()) {
    TunePlan plan = PlanOf(space_, Best());
    plan.compile.flags.emplace_back(kNoUnrolling, "true");
    Examine(AssignmentOf(space_, plan));
  }
}

void TuneRun::RaceAlternatives() {
  constexpr double kRunsOfRace = 6;  // where each takes long
  // Of one that makes the program many times as large; below it is left to the search.
  constexpr double kLeastExpected = 0.05, kMuchLarger = 4;
  PassSequence names;
  const double compiling = measurer_.StockCompileSeconds();
  const double racing =
      std::max(measurer_.RaceSeconds(Look::kLong), kRunsOfRace * shares_.seconds());
  result_.alternatives =
      RacingOrder(shares_, options_.policy, space_.alternatives, compiling / (compiling + racing));
  for (const AlternativeReport& one : result_.alternatives) {
    if (one.growth > kMuchLarger && one.expected < kLeastExpected) continue;
    // What is no faster in any task that has it waits for the search.
    const bool hopeless = std::any_of(
        space_.decisions.begin(), space_.decisions.end(), [&](const Decision& decision) {
          const Expected expected = ExpectedOf(result_.tasks, decision.name, one.name);
          return expected.tried && expected.saved <= 0;
        });
    if (!hopeless) names.push_back(one.name);
  }
  if (names.empty()) return;
  // Together they may be most of what there is to gain, for a single evaluation.
  ChooseOptions choosing;
  choosing.together = RacedTogether(shares_, space_.alternatives, names);
  choosing.first = RacedFirst(result_.alternatives, names, choosing.together[0]);
  choosing.at_once =
      RacedAtOnce(result_.alternatives, space_.alternatives, names, choosing.together[0]);
  choosing.doubtful = DoubtfulOf(space_.alternatives, choosing.together[0]);
  choosing.harmful = HarmfulOf(space_.alternatives, choosing.together[0]);
  for (const AlternativeReport& one : result_.alternatives) {
    if (one.growth > kGrows) choosing.growing.push_back(one.name);
  }
  choosing.large = [&](const PassSequence& passes) {
    return AreLarge(space_.alternatives, passes);
  };
  const double start = Elapsed();
  if (measurer_.Window() > 1) {  // as they are raced while nothing is better
    for (const PassSequence& passes : choosing.together) {
      if (!passes.empty()) measurer_.Foresee(With(passes), Look::kLong);
    }
    for (const std::string& name : names) {
      measurer_.Foresee(With({name}), Look::kLong);
    }
  }
  const auto race = [&](const PassSequence& passes) -> StatusOr<RaceReport> {
    Report("alternatives");
    const bool promising = Promise(shares_, space_.alternatives, passes.back()) > kMuchPromise;
    const double share = promising ? kPromisingShare : kGreedyShare;
    if (Stopped(start + share * std::max(0.0, SearchSeconds() - start))) {
      return MakeError(ErrorCode::kInterrupted, "not raced: the budget is spent");
    }
    const TunePlan plan = With(passes);
    const int64_t given_up = measurer_.given_up();
    const Measured measured = measurer_.Measure(plan, Look::kLong);
    result_.combinations.push_back({passes, Elapsed(), measured.race, measured.error});
    if (measured.failed()) {
      last_error_ = measured.error;
      const bool late = measurer_.given_up() > given_up;
      return MakeError(late ? ErrorCode::kDeadline : ErrorCode::kPassFailed, measured.error);
    }
    if (!Offer(plan, measured)) {
      return MakeError(ErrorCode::kPassFailed, "it computes something else");
    }
    return measured.race;
  };
  const ChooseResult chosen = ChooseImplementations(names, race, choosing);
  measurer_.Forget();
  if (!chosen.passes.empty()) starts_.push_back(With(chosen.passes));
}

TunePlan TuneRun::With(const std::vector<std::string>& alternatives) const {
  return PlanOf(space_, WithAlternatives(space_, alternatives));
}

TuneRun::Found TuneRun::Compared(const TunePlan& plan, const std::string& executable) {
  if (!options_.verify || Interrupted()) return Found::kNothing;
  const auto [known, added] = compared_.try_emplace(executable, Found::kNothing);
  if (!added) return known->second;
  Report("verify");
  const auto report = measurer_.Compare({}, plan, QuickComparison(measurer_, options_));
  if (report && report->verdict == Verdict::kDifferent) {
    known->second = Found::kWrong;
    result_.rejected.push_back("it computes something else: " + report->reason);
  } else if (report && report->verdict == Verdict::kCannotTell && report->inputs == 0 &&
             report->finite_share > 0) {
    known->second = Found::kDoubt;  // both ran, and it showed nothing
  } else if (!report && report.error().code == ErrorCode::kDeadline) {
    known->second = Found::kWrong;
    result_.rejected.push_back("not known to compute the same: comparing it " +
                               report.error().message);
  }
  return known->second;
}

}  // namespace hone::tune
