#include "tune/ended.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone::tune {
namespace {

constexpr double kLeastShare = 0.15;  // of the budget
constexpr double kMostShare = 0.35;
constexpr double kShortBudget = 30;  // seconds, of which one fresh process has to do
constexpr double kMostOfShort = 0.25;
constexpr double kMostLeast = 0.2;
constexpr double kLeastConfirm = 2.5;  // seconds, with a fresh process
constexpr int kProcesses = 3;
constexpr int kSets = 3;
constexpr double kSpent =
    0.05;  // of the budget: what is less than that before its end is no matter
constexpr double kShortRun = 1e-3;
constexpr double kRounded = 10;       // seconds
constexpr double kLeastListing = 20;  // seconds
constexpr double kLeastQuick = 3;     // seconds
constexpr double kMostQuick = 20;
constexpr double kQuickShare = 0.15;  // of the budget
constexpr double kLeastGrace = 15;    // seconds
constexpr double kMostGrace = 60;
constexpr double kListingTimes = 2;   // as long as the budget

std::string Plans(int64_t count) { return fmt::format("{} plan{}", count, count == 1 ? "" : "s"); }

// A budget in which some plans fit, for people to type.
std::string EnoughBudget(const TuneOptions& options, const SearchEnd& end) {
  const double once = std::max(end.searched, options.budget_seconds);
  return fmt::format("{:.0f}s", kRounded * std::ceil(4 * once / kRounded));
}

}  // namespace

std::string_view TuneStopName(TuneStop stop) {
  constexpr std::string_view kNames[] = {"time", "evaluations", "exhausted", "interrupted",
                                         "not_tunable"};
  return kNames[static_cast<int>(stop)];
}

double ReserveSeconds(const Measurer& measurer, bool something_found, const TuneOptions& options) {
  const double budget_seconds = options.budget_seconds;
  const double run = measurer.RunSeconds();
  // A process that confirms compiles both; the worker that compares has done so already.
  const double process = std::max(measurer.FreshCompileSeconds(), 0.1) + kLeastConfirm + 5 * run;
  const double set = measurer.CompareSeconds() > 0 ? measurer.CompareSeconds() : 8 * run + 0.2;
  const double least = std::min(process + set, kMostLeast * budget_seconds);
  if (!something_found) return least;
  // An estimate is the same in each process.
  const int processes = options.estimated ? 1 : kProcesses;
  const double most = budget_seconds < kShortBudget ? kMostOfShort : kMostShare;
  return std::clamp(processes * process + kSets * set + 2 * measurer.RaceSeconds(Look::kLong),
                    std::max(least, kLeastShare * budget_seconds), most * budget_seconds);
}

double ListingPatience(const TuneOptions& options) {
  const double most = CompileOptions{}.deadline_seconds;
  return std::clamp(kListingTimes * options.budget_seconds, std::min(kLeastListing, most), most);
}

double ComparingGrace(const Measurer& measurer, const TuneOptions& options) {
  return std::clamp(options.budget_seconds, kLeastGrace, kMostGrace) + 2 * measurer.CompileSeconds();
}

CompareOptions QuickComparison(const Measurer& measurer, const TuneOptions& options) {
  CompareOptions quick = options.compare;
  quick.stop = options.interrupted;
  quick.inputs = 1;
  quick.budget_seconds =
      std::min(quick.budget_seconds,
               std::clamp(kQuickShare * options.budget_seconds, kLeastQuick, kMostQuick));
  quick.grace_seconds = ComparingGrace(measurer, options);
  return quick;
}

std::string WhyNotCompiled(const Error& error, const TuneOptions& options) {
  if (error.code == ErrorCode::kDeadline) {
    const double patience = ListingPatience(options);
    std::string late = fmt::format("compiling it takes more than {:.0f} s", patience);
    if (patience < CompileOptions{}.deadline_seconds) {
      late += fmt::format(
          ", too long for a budget of {:.4g} s; give it more time, such as --budget {:.0f}s",
          options.budget_seconds, 4 * patience);
    }
    return late;
  }
  for (const char* said : {"it cannot be compiled", "XLA:CPU does not compile it"}) {
    if (error.message.rfind(said, 0) == 0) return error.message;
  }
  return "it cannot be compiled here: " + error.message;
}

double SecondsAPlan(const Measurer& measurer, const SearchEnd& end) {
  if (measurer.UsualSeconds() > 0 || measurer.evaluations() == 0) return measurer.UsualSeconds();
  return (end.searched - end.prepared) / static_cast<double>(measurer.evaluations());
}

std::string HowItEnded(const TuneResult& result, const TuneOptions& options, const SearchEnd& end) {
  switch (result.stop) {
    case TuneStop::kEvaluations:
      return fmt::format("the budget of {} is spent", Plans(options.budget_evaluations));
    case TuneStop::kExhausted:
      return "every plan that the searcher can think of was tried";
    case TuneStop::kInterrupted:
      return "interrupted";
    case TuneStop::kNotTunable:
      return "it cannot be tuned";
    case TuneStop::kTime:
      break;
  }
  const double early = options.budget_seconds - result.seconds;
  if (early <= std::max(1.0, kSpent * options.budget_seconds)) {
    return fmt::format("the budget of {:.4g} s is spent", options.budget_seconds);
  }
  const std::string when =
      fmt::format("{:.0f} s before the budget of {:.4g} s: ", early, options.budget_seconds);
  if (!result.improvements.empty()) {
    return when + fmt::format("verifying and confirming took {:.0f} of the {:.0f} s kept for it",
                              std::max(0.0, result.seconds - end.searched), end.reserve);
  }
  return when + fmt::format(
                    "another plan takes about {:.1f} s, and {:.1f} s are kept to verify and "
                    "confirm it",
                    end.next, end.reserve);
}

std::string WhyNothing(const TuneResult& result, const TuneOptions& options, const SearchEnd& end,
                       const std::string& error) {
  if (result.evaluations == 0) {
    if (result.stop == TuneStop::kInterrupted) return "interrupted before anything was measured";
    return fmt::format(
        "nothing could be measured in the budget of {:.4g} s: compiling the program and finding "
        "what "
        "there is to decide took {:.1f} s; give it more time, such as --budget {}",
        options.budget_seconds, end.prepared, EnoughBudget(options, end));
  }
  const int64_t fine = result.evaluations - result.failures;
  if (fine <= 0) {
    return fmt::format(
        "nothing could be measured: {} failed ({}); a plan may take longer "
        "where there is more time, such as --budget {}",
        Plans(result.evaluations), error, EnoughBudget(options, end));
  }
  std::string reason =
      options.estimated ? "nothing has a lower estimate than" : "nothing is faster than";
  reason += " the stock compiler's way, of " + Plans(fine);
  if (result.failures > 0) reason += fmt::format(" ({} more failed)", result.failures);
  if (result.given_up > 0) {
    reason += fmt::format("; {} took too long to compile, for which a larger --budget waits",
                          Plans(result.given_up));
  }
  if (result.races == 0) reason += ", which all come to executables that are known already";
  return reason;
}

std::string AgainstNoise(double run_seconds) {
  const std::string quiet =
      "a quiet machine (`hone doctor` says how steady it is) and a longer --budget help";
  if (run_seconds <= 0 || run_seconds >= kShortRun) return quiet;
  return fmt::format(
      "a run takes {:.3g} ms only, which starting threads and other processes move by more than "
      "the "
      "difference; larger inputs or several steps in one program show more, {}",
      1000 * run_seconds, quiet);
}

}  // namespace hone::tune
