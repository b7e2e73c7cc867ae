// The tuner's questions to the compiler and the machine. pool_evaluator.h asks a real one.
#ifndef HONE_TUNE_EVALUATOR_H_
#define HONE_TUNE_EVALUATOR_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/compile_plan.h"
#include "core/pass.h"
#include "core/program_graph.h"
#include "core/program_task.h"
#include "core/race.h"
#include "core/result.h"
#include "tune/tune_plan.h"

namespace hone::tune {

// As in InstructionInfo; without its origin where something of the same kind is still from there.
struct Replaced {
  std::string name;
  std::string origin;
  std::string opcode;
  std::string kind = "";  // KindOf(InstructionInfo), kernel_shares.h
  bool all = false;       // nothing of the kind and the origin is left
};

// Passes that may be run before the stock pipeline: another implementation of expensive operations,
// or another order of the simplifying passes.
struct Alternative {
  Stage stage = Stage::kImplementation;
  std::string name;  // the pass's; of an order, what it was found for
  std::vector<PlannedPass> passes;
  // Instructions that it replaces, and the opcodes that there are fewer of after it.
  std::vector<Replaced> instructions;
  std::vector<std::string> opcodes;
  // Loops that are no more, or that start less than half as many kernels.
  std::vector<Replaced> loops;
  uint32_t traits = kAnywhere;  // PassTraits
  // The number of instructions that become code, before and after it.
  double before = 0, behind = 0;

  // Whether the program becomes many times as large, and takes long to compile.
  bool large() const { return IsLarge(before, behind); }
  static bool IsLarge(double before, double behind) {
    constexpr double kLarge = 1000;  // smaller programs compile fast in any case
    constexpr double kManyTimes = 4;
    return behind > std::max(kLarge, kManyTimes * before);
  }
};

// Which alternatives are looked for, and how long for each kind.
struct AlternativesWanted {
  bool implementations = false;
  bool orders = false;
  double implementation_seconds = 0;  // after these seconds those found so far are returned
  double order_seconds = 0;
};

// One program. Compile, Describe, Race and Compare may be called by as many threads as there are
// workers, and more: they wait; all else is called by one thread, and nothing at the same time.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // How many calls are answered at a time, without disturbing each other's measurements.
  virtual int workers() const { return 1; }

  // Whether a process that has done nothing yet knows the kernels that others have made.
  virtual bool kernels_last() const { return false; }

  // Alternatives that change the program, most promising first. To be called once.
  virtual StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted& wanted) = 0;
  virtual StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) = 0;
  // Where the time of a run under the plan goes, dearest kernel first, of about that many seconds
  // of running. It is given up after `most_seconds`: a trace of many short kernels is long.
  virtual StatusOr<std::vector<KernelTime>> Profile(const TunePlan& plan, double seconds,
                                                    double most_seconds) = 0;
  // The contents of an optimised module, from Compiled::text.
  virtual StatusOr<ProgramGraph> Describe(const std::string& text) = 0;
  virtual StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b,
                                    const RaceOptions& options) = 0;
  virtual StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                             const CompareOptions& options) = 0;
  // The program taken apart, at most `most` parts; none where it cannot be.
  virtual std::vector<ProgramTask> Cut(size_t /*most*/) { return {}; }
  // A part as a program of its own, asked of the same workers by the same clock. It must be gone
  // before Restart, and is not restarted itself.
  virtual StatusOr<std::unique_ptr<Evaluator>> OfTask(const ProgramTask&) {
    return MakeError(ErrorCode::kUnsupported, "programs are not taken apart here");
  }
  // Seconds of a run of the stock executable: a few runs, the shortest. The results are copied too.
  virtual StatusOr<double> RunSeconds() {
    return MakeError(ErrorCode::kUnsupported, "runs are not timed here, only raced");
  }
  // Estimated seconds of a run, from operations and bytes: the order in which tasks are timed.
  virtual double Guess() const { return 0; }
  // The program's fingerprint; "" where there is none.
  virtual std::string Name() const { return {}; }
  // All later calls run in a process that has done nothing yet.
  virtual Status Restart() = 0;
  // The clock of all budgets.
  virtual double Seconds() const = 0;
};

}  // namespace hone::tune

#endif  // HONE_TUNE_EVALUATOR_H_
