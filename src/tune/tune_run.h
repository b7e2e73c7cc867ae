// A run of tuning under way: its clock and budget, what a plan turns out to be worth, and the best
// so far.
#ifndef HONE_TUNE_TUNE_RUN_H_
#define HONE_TUNE_TUNE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/choices/choices.h"
#include "tune/candidates.h"
#include "tune/ended.h"
#include "tune/evaluator.h"
#include "tune/kernel_shares.h"
#include "tune/lessons.h"
#include "tune/measurer.h"
#include "tune/space.h"
#include "tune/tune_program.h"

namespace hone::tune {

// For the driver (tune_program.cc), which says what is tried.
class TuneRun {
 protected:
  static constexpr size_t kFinalists = 8;
  static constexpr int64_t kHopeless = 6;      // failures from the first on: it does not run here
  static constexpr double kMuchPromise = 0.2;  // of the time, that an alternative replaces

  // Both must outlive it.
  TuneRun(Evaluator& evaluator, const TuneOptions& options);

  double Elapsed() const { return evaluator_.Seconds() - start_; }
  bool Interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }
  double Reserve() const {
    return known_end_ > 0 ? known_end_ : ReserveSeconds(measurer_, Promises(), options_);
  }
  // By Elapsed(). One plan is tried whatever is left of the budget.
  double SearchSeconds() const {
    return options_.budget_seconds - (measurer_.evaluations() == 0 ? 0 : Reserve());
  }
  void Report(std::string_view phase) const;

  // Why the program is given up, if so. `failures`: after so many attempts, none of which ran.
  std::optional<std::string> WhyNotTunable(int64_t failures = kHopeless) const;
  // Whether to end a part of the search that may go on until `until`, by Elapsed().
  bool Stopped(double until);

  // A short look, and a long one where it promises to be the best; for the chooser.
  choices::Trial Examine(const choices::Assignment& assignment);
  choices::Trial Examine(const choices::Assignment& assignment, const Prepared& prepared);
  // False where it would be the best, but computes something else or cannot be shown not to: then
  // nothing is built upon it. Of the latter the end decides.
  bool Offer(const TunePlan& plan, const Measured& measured);
  choices::Assignment Best() const;
  // The sites of a plan, and what comes of it.
  StatusOr<Compiled> List(const TunePlan& plan, bool text = false);
  // The best plan's sites, as far as they are new, become variables. True where there were some.
  bool ListBest();
  // What may be about every kernel of the best: small ones as one, and loops not unrolled.
  void ChooseKernels();
  // Implementations and orders, one on top of the other: they matter most where they matter at all,
  // and decide what sites there are.
  void RaceAlternatives();

  Evaluator& evaluator_;
  const TuneOptions& options_;
  const double start_;
  Space space_;
  KernelShares shares_;
  Measurer measurer_;
  Lessons lessons_;
  Finalists finalists_{kFinalists};
  Finalists behind_{kFinalists};  // of a short look
  std::vector<TunePlan> starts_;  // found by racing alternatives
  double known_end_ = 0;          // seconds that the end takes, once there has been one
  TuneResult result_;
  std::string last_error_;

 private:
  enum class Found { kNothing, kDoubt, kWrong };
  // By a quick comparison. Where its time is too short, the one at the end may tell, unless
  // compiling the plan takes too long.
  Found Compared(const TunePlan& plan, const std::string& executable);
  TunePlan With(const std::vector<std::string>& alternatives) const;
  bool Promises() const { return finalists_.best_value() < 0 || behind_.best_value() < 0; }

  std::map<std::string, Found> compared_;  // executables
  TunePlan listed_;                        // by ListBest
  std::vector<CompileSite> listed_sites_;
};

}  // namespace hone::tune

#endif  // HONE_TUNE_TUNE_RUN_H_
