// The joint autotuner: from a program to the fastest verified way to compile it that the budget
// allowed, or the answer that the stock compiler's is best. (Phothilimthana et al., "A Flexible
// Approach to Autotuning Multi-Pass Machine Learning Compilers", PACT 2021: XTAT.)
#ifndef HONE_TUNE_TUNE_PROGRAM_H_
#define HONE_TUNE_TUNE_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/comparison.h"
#include "core/race.h"
#include "cost/cost_graph.h"
#include "store/rows.h"
#include "tune/change_policy.h"
#include "tune/evaluator.h"
#include "tune/space.h"
#include "tune/tune_plan.h"

namespace hone::tune {

// Joint: the stages take turns, and what one found may be changed again in the light of another.
// Sequential: one stage after another, each settled before the next.
enum class Mode { kJoint, kSequential };

struct TuneProgress {
  std::string_view phase;  // "compile", "alternatives", "search", "choose", "verify", "confirm"
  double seconds = 0;      // since the start
  int64_t evaluations = 0;
  double stock_seconds = 0;  // of a run; 0 until known
  double best_speedup = 1;
};

// The estimated logarithm of the time of an optimised module under the choices that led to it, up
// to a constant of the program: lower is better.
using CostEstimate =
    std::function<double(const cost::CostGraph& module, const std::vector<NamedChoice>& choices)>;

struct TuneOptions {
  std::string program;  // its fingerprint, by which lessons name where they are from
  Stages stages = AllStages();
  std::string strategy = "anneal";  // a choices::ChooserInfo's name
  Mode mode = Mode::kJoint;
  double budget_seconds = 600;     // of everything, compiling and verifying too
  int64_t budget_evaluations = 0;  // of plans; 0 is no limit
  uint64_t seed = 1;
  bool fast_math = false;   // offers flags that change the numerics
  bool free_entry = false;  // the caller passes and takes arrays in any layout
  int fusion_hops = 5;
  int turn = 5;                 // evaluations that a stage is tuned for before the next, when joint
  double most_run_seconds = 2;  // programs that run longer are left alone
  bool verify = true;
  CompareOptions compare;
  std::vector<store::Lesson> lessons;     // the decision store's
  std::vector<TunePlan> starts;           // believed to be good
  ChangePolicy policy;                    // says what to try first; may know nothing
  std::vector<store::Measurement> known;  // on this machine with this XLA: not measured again
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const TuneProgress&)> progress;
  // Where it is given, candidates are compiled in groups, and only those that it ranks best are
  // measured.
  CostEstimate estimate;
  // Each measurement as it comes, for a store; the module has no name where it is not known.
  std::function<void(const store::Measurement&, const store::PlanRow&, const store::ModuleRow&)>
      record;
  // The measurements known of a task, as `known` is of the program; and who takes its outcome.
  std::function<std::vector<store::Measurement>(const std::string& task)> recall;
  std::function<void(const store::Outcome&, const store::PlanRow&)> record_outcome;
  bool tasks = false;  // tune the dearest operations alone first
  // The target is not here: times are its XLA's own estimates, and nothing is called faster.
  bool estimated = false;
};

// The gain of a stage's choices in the plan that is kept: the time without them by the time with
// them.
struct StageGain {
  Stage stage = Stage::kFlags;
  int choices = 0;
  RaceReport race;
};

struct TuneImprovement {
  double seconds = 0;
  int64_t evaluations = 0;
  double speedup = 1;
  Stage stage = Stage::kFlags;  // that was being tuned
};

// A plan that looked faster while searching, and was neither kept nor thrown out.
struct RunnerUp {
  TunePlan plan;
  double speedup = 1;
};

enum class TuneStop { kTime, kEvaluations, kExhausted, kInterrupted, kNotTunable };
std::string_view TuneStopName(TuneStop stop);

// The seconds of tuning that one kind of work took: "list" (the decisions, with the stock code),
// "passes" (of a plan, without code), "race", "compare", …
struct PhaseTime {
  std::string phase;
  double seconds = 0;
  int64_t calls = 0;
};

// One choice off stock in a task.
struct TaskTrial {
  NamedChoice choice;
  double speedup = 1;  // of the task; with a 95 % interval. 1, 1 and 1 where it changes nothing
  double low = 1;
  double high = 1;
};

// The result of tuning a task, a part of the program that is compiled and measured alone (tasks.h).
struct TaskReport {
  std::string task;    // its fingerprint
  ProgramTask what;    // without its text
  double share = 0;    // of the program's time
  double seconds = 0;  // a run of the task as the stock compiler has it
  std::vector<TaskTrial> trials;
  TunePlan
      plan;  // the best, compared with stock on the task's own inputs; empty where none is faster
  RaceReport race;          // of stock against it
  int64_t evaluations = 0;  // plans whose value became known
  int64_t races = 0;        // of them measured here and now
  std::vector<PhaseTime> phases;
};

// An implementation or order that could be raced, by what was known before.
struct AlternativeReport {
  std::string name;
  double promise = 0;   // share of the time that it can save at most (promise.h)
  double growth = 1;    // of the code of the program, and of what every program has
  double expected = 0;  // by which it is raced sooner or later
};

// Several of them, one on top of another, raced against stock.
struct CombinationReport {
  std::vector<std::string> alternatives;
  double seconds = 0;  // from the start of tuning to the end of the race
  RaceReport race;     // all ones where there is none, for `error` or nothing changes
  std::string error;
};

struct TuneResult {
  bool kept = false;  // else the stock compiler's way is the result, and `reason` says why
  std::string reason;
  TunePlan plan;    // empty where it is not kept
  RaceReport race;  // of the stock executable against the plan's, in fresh processes
  std::string verified = "skipped";  // "true", "false", "unknown", "skipped"
  ComparisonReport verification;
  TuneStop stop = TuneStop::kTime;
  std::string ended;              // the same in words: why it ended when it did
  double stock_seconds = 0;       // of a run; 0 where it was not measured
  int64_t evaluations = 0;        // plans whose value became known, also those known before
  int64_t races = 0;              // measured
  int64_t failures = 0;           // plans that did not compile or run
  int64_t given_up = 0;           // of them, those that took too long
  std::vector<TaskReport> tasks;  // that were tuned alone, the dearest first
  int64_t passed_over = 0;        // plans that were compiled and, by their estimate, not measured
  size_t variables = 0;
  double seconds = 0;
  double busy_seconds = 0;  // of them compiling, running and comparing:
  std::vector<PhaseTime> phases;
  std::vector<StageGain> gains;  // by stage, where there was time to find out
  std::vector<TuneImprovement> improvements;
  std::vector<AlternativeReport> alternatives;  // in the order in which they are raced
  std::vector<CombinationReport> combinations;
  std::vector<std::string> rejected;  // better plans that did not stand up to the end
  std::vector<RunnerUp> others;       // behind the plan that is kept, the best first; not compared
  std::vector<store::Lesson> lessons;
  // Of the program as it is, then those that plans brought to light.
  std::vector<CompileSite> sites;
};

// Never an error: where the program cannot be compiled, run or decided about here, the result is
// the stock compiler's way, and says why.
TuneResult TuneProgram(Evaluator& evaluator, const TuneOptions& options);

}  // namespace hone::tune

#endif  // HONE_TUNE_TUNE_PROGRAM_H_
