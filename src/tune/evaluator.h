// What the tuner asks of the compiler and the machine. pool_evaluator.h asks a real one.
#ifndef HONE_TUNE_EVALUATOR_H_
#define HONE_TUNE_EVALUATOR_H_

#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/compile_plan.h"
#include "core/program_graph.h"
#include "core/race.h"
#include "core/result.h"
#include "tune/tune_plan.h"

namespace hone::tune {

// Passes that may be run before the stock pipeline: another implementation of expensive operations,
// or another order of the simplifying passes.
struct Alternative {
  Stage stage = Stage::kImplementation;
  std::string name;  // the pass's; of an order, what it was found for
  std::vector<PlannedPass> passes;
};

// One program. Calls are made one at a time.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Those that change the program, most promising first; at most that many seconds are spent on
  // finding orders. Once.
  virtual StatusOr<std::vector<Alternative>> Alternatives(bool implementations, bool orders,
                                                          double order_seconds) = 0;
  virtual StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) = 0;
  // What is in an optimised module, from Compiled::text.
  virtual StatusOr<ProgramGraph> Describe(const std::string& text) = 0;
  virtual StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b,
                                    const RaceOptions& options) = 0;
  virtual StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                             const CompareOptions& options) = 0;
  // What follows runs in a process that has done nothing yet.
  virtual Status Restart() = 0;
  // A clock: budgets are by it.
  virtual double Seconds() const = 0;
};

}  // namespace hone::tune

#endif  // HONE_TUNE_EVALUATOR_H_
