// Evaluate, of XTAT's loop: what is a plan worth? Each executable is measured once, and again only
// to know better.
#ifndef HONE_TUNE_MEASURER_H_
#define HONE_TUNE_MEASURER_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/fingerprint.h"
#include "core/race.h"
#include "cost/cost_graph.h"
#include "tune/evaluator.h"
#include "tune/space.h"
#include "tune/tune_program.h"

namespace hone::tune {

enum class Look {
  kShort,  // a few pairs: is it promising?
  kLong,   // enough to build upon
};

// A race against the stock plan that was held before anybody asked for it.
struct ForeseenRace {
  Look look = Look::kShort;
  StatusOr<RaceReport> report;
  double seconds = 0;
};

// A plan that was compiled to see what comes of it, without the code that would be run.
struct Prepared {
  TunePlan plan;
  std::string executable;  // equal for equal executables
  std::string error;       // why it does not compile; "" where it does
  // Of the optimised module. Not filled where nobody asks for it, it is too large, or the
  // executable is known.
  std::optional<cost::CostGraph> graph;
  double seconds = 0;  // that all this took
  std::optional<ForeseenRace> race;
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
  ~Measurer() { Forget(); }

  // How many plans may be under way at a time; 1: Foresee is not to be called.
  size_t Window() const;
  // Begins on free workers with what Measure(plan, look) is going to need. The result is what
  // Measure would have found at this moment, and counts when Measure is called.
  void Foresee(const TunePlan& plan, Look look);
  // Gives up what was foreseen and not asked for.
  void Forget();

  // The optimised module of the stock compiler: plans that come to it are worth 0, unmeasured.
  void KnowStock(const Fingerprint& module, double compile_seconds);
  // Seconds of a run of the stock executable, before anything was raced.
  void KnowRun(double seconds) { run_seconds_ = seconds; }
  Measured Measure(const TunePlan& plan, Look look) { return Measure(Prepare(plan), look); }
  Prepared Prepare(const TunePlan& plan);
  Measured Measure(const Prepared& prepared, Look look);
  // Whether measuring it would tell nothing new, or cannot be done.
  bool Known(const Prepared& prepared) const;
  // Any two plans; what it tells of the stock executable is remembered.
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b, Look look);
  // The same of a candidate that has run before: it is waited for, however little of the budget is
  // left.
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b, double seconds, int least_pairs,
                            bool patient = false);
  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options);
  StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                     const CompareOptions& options);
  // Evaluator's, with the time that it takes.
  StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted& wanted);
  StatusOr<std::vector<KernelTime>> Profile(const TunePlan& plan, double seconds,
                                            double most_seconds);
  StatusOr<ProgramGraph> Describe(const std::string& text);
  Status Restart();

  // Seconds that measuring takes, by how long the program runs.
  double RaceSeconds(Look look) const;
  // Seconds of compiling a plan and giving it a short look, judged by those so far.
  double EvaluationSeconds() const;
  // Of those so far, running means: compiling a plan to see what comes of it, and the race behind
  // it.
  double PrepareSeconds() const { return prepare_seconds_; }  // 0: not known
  double RestSeconds() const { return std::max(0.0, evaluation_seconds_ - prepare_seconds_); }
  double UsualSeconds() const { return evaluation_seconds_; }  // 0: not known
  double StockCompileSeconds() const { return stock_compile_seconds_; }  // 0: not known
  // Compiling one executable whose kernels are mostly known; 0: not known.
  double CompileSeconds() const { return compile_seconds_; }
  // Compiling the stock executable and another in a new process.
  double FreshCompileSeconds() const;
  // The longest comparison on one input set so far; 0: not known.
  double CompareSeconds() const { return compare_seconds_; }
  double RunSeconds() const { return run_seconds_; }  // of the stock executable; the same
  int64_t evaluations() const { return evaluations_; }
  int64_t races() const { return races_; }
  int64_t failures() const { return failures_; }
  int64_t given_up() const { return given_up_candidates_; }  // of them, for taking too long
  double busy_seconds() const { return busy_seconds_; }
  // Those seconds by phase; what Foresee did counts where it was used.
  const std::vector<PhaseTime>& phases() const { return phases_; }
  // Adds time that was spent otherwise.
  void Spent(std::string_view phase, double seconds);

 private:
  struct Foreseen {
    StatusOr<Compiled> compiled = MakeError(ErrorCode::kInterrupted, "given up");
    std::optional<cost::CostGraph> graph;
    std::optional<ForeseenRace> race;
    double seconds = 0;  // of compiling and describing
  };

  template <class Call>
  auto Timed(std::string_view phase, Call call) -> decltype(call());
  CompileOptions Compiling() const;
  RaceOptions Racing(double seconds, int least_pairs) const;
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b, const RaceOptions& racing);
  int LeastPairs(Look look) const;
  bool WantsGraph(const Compiled& compiled) const;
  std::optional<cost::CostGraph> GraphOf(const Compiled& compiled) const;
  std::string Behind(const TunePlan& plan) const;
  void LearnFrom(const TunePlan& a, const RaceReport& report);
  Foreseen FindOut(const TunePlan& plan, Look look, const CompileOptions& compiling,
                   const RaceOptions& racing, const std::string& behind);
  bool Claim(const std::string& executable);
  void Know(const Measured& measured);
  void Record(const Prepared& prepared, const Measured& measured) const;
  double CompilePatience() const;    // with the stock module, seconds
  double CandidatePatience() const;  // with a candidate: with its compilation, or with a sample

  Evaluator& evaluator_;
  const Space& space_;
  const TuneOptions& options_;
  const double start_;                               // by the evaluator's clock
  std::unordered_map<std::string, Measured> known_;  // by executable
  double run_seconds_ = 0;
  double compile_seconds_ = 0;
  double stock_compile_seconds_ = 0;
  double evaluation_seconds_ = 0;  // of those that were raced, a running mean
  double prepare_seconds_ = 0;
  int64_t evaluations_ = 0;
  int64_t races_ = 0;
  int64_t failures_ = 0;
  int64_t given_up_candidates_ = 0;
  double compare_seconds_ = 0;
  double busy_seconds_ = 0;
  std::vector<PhaseTime> phases_;
  std::map<std::string, std::future<Foreseen>> foreseen_;  // by the plan, as JSON
  std::atomic<bool> given_up_{false};
  std::mutex mutex_;               // of what follows
  std::set<std::string> claimed_;  // executables that are known or being raced
};

}  // namespace hone::tune

#endif  // HONE_TUNE_MEASURER_H_
