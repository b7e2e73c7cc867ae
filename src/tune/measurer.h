// Evaluate, of XTAT's loop: what is a plan worth? Each executable is measured once, and again only
// to know better.
#ifndef HONE_TUNE_MEASURER_H_
#define HONE_TUNE_MEASURER_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/fingerprint.h"
#include "core/race.h"
#include "tune/evaluator.h"
#include "tune/space.h"
#include "tune/tune_program.h"

namespace hone::tune {

enum class Look {
  kShort,  // a few pairs: is it promising?
  kLong,   // enough to build upon
};

struct Measured {
  std::string executable;  // equal for equal executables, as far as known
  std::string error;       // why there is no value; "" where there is one
  double value = 0;        // the logarithm of its time by the stock executable's; lower is better
  Look look = Look::kShort;
  RaceReport race;
  bool failed() const { return !error.empty(); }
};

class Measurer {
 public:
  // All must outlive it.
  Measurer(Evaluator& evaluator, const Space& space, const TuneOptions& options);

  // The optimised module of the stock compiler: plans that come to it are worth 0, unmeasured.
  void KnowStock(const Fingerprint& module);
  Measured Measure(const TunePlan& plan, Look look);
  // Any two plans; what it tells of the stock executable is remembered.
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b, Look look);
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b, double seconds, int least_pairs);
  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options);
  StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                     const CompareOptions& options);
  // Evaluator's, with the time that it takes.
  StatusOr<std::vector<Alternative>> Alternatives(bool implementations, bool orders,
                                                  double order_seconds);
  Status Restart();

  // Of measuring, by how long the program runs.
  double RaceSeconds(Look look) const;
  // What tells the plan's executable from others, without generating code: the optimised module,
  // and what the module does not show.
  StatusOr<std::string> ExecutableOf(const TunePlan& plan);

  // That compiling a plan and giving it a short look takes, judged by those so far.
  double EvaluationSeconds() const;
  double CompileSeconds() const { return compile_seconds_; }  // of one executable; 0: not known
  double RunSeconds() const { return run_seconds_; }          // of the stock executable; the same
  int64_t evaluations() const { return evaluations_; }
  int64_t races() const { return races_; }
  int64_t failures() const { return failures_; }
  double busy_seconds() const { return busy_seconds_; }

 private:
  template <class Call>
  auto Timed(Call call) -> decltype(call());
  void Record(const TunePlan& plan, const Measured& measured) const;
  double CompilePatience() const;  // seconds

  Evaluator& evaluator_;
  const Space& space_;
  const TuneOptions& options_;
  std::unordered_map<std::string, Measured> known_;  // by executable
  double run_seconds_ = 0;
  double compile_seconds_ = 0;
  double stock_compile_seconds_ = 0;
  double evaluation_seconds_ = 0;  // of those that were raced, a running mean
  int64_t evaluations_ = 0;
  int64_t races_ = 0;
  int64_t failures_ = 0;
  double busy_seconds_ = 0;
};

}  // namespace hone::tune

#endif  // HONE_TUNE_MEASURER_H_
