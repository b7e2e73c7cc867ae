// Plans for a machine that is not here: the target's own pipeline of HLO passes runs, and its XLA's
// model of the machine takes the place of a clock. The figures have no noise; what they are worth
// the model decides.
#ifndef HONE_COMPILER_RUN_ESTIMATES_H_
#define HONE_COMPILER_RUN_ESTIMATES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/compile_plan.h"
#include "core/fingerprint.h"
#include "core/race.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

class CompileDecider;

// The target's pipeline under a plan; `decider`, where there is one, makes the plan's choices.
// Errors: kUnsupported with XLA's reason; kInvalidInput for the plan's flags.
StatusOr<std::unique_ptr<xla::HloModule>> OptimiseUnderPlan(const xla::HloModule& module,
                                                            const CompilePlan& plan,
                                                            CompileDecider* decider);

// The same as a program that runs here (Target::MakePlain).
StatusOr<std::unique_ptr<xla::HloModule>> PlainUnderPlan(const xla::HloModule& module,
                                                         const CompilePlan& plan);

// Of programs under plans; the last some are remembered. For one thread.
class Estimates {
 public:
  StatusOr<Compiled> Compile(const xla::HloModule& module, const CompilePlan& plan,
                             const CompileOptions& options);
  // As a race with one pair would end, whose interval is the ratio itself. Error: kUnsupported
  // where b has loops of unknown trip count that a has not, for then the two estimates are of
  // different runs.
  StatusOr<RaceReport> Race(const xla::HloModule& a, const CompilePlan& plan_a,
                            const xla::HloModule& b, const CompilePlan& plan_b);
  // Dearest first. Kernels of one name are one.
  StatusOr<std::vector<KernelTime>> Profile(const xla::HloModule& module, const CompilePlan& plan);

 private:
  struct Known {
    Compiled compiled;  // without sites, text and assembly
    std::vector<KernelTime> kernels;
    double seconds = 0;
    int64_t unknown_loops = 0;
  };
  using Key = std::pair<Fingerprint, uint64_t>;  // the program's, the plan's

  StatusOr<Known> Look(const xla::HloModule& module, const CompilePlan& plan,
                       const CompileOptions& options);
  StatusOr<Known> Find(const xla::HloModule& module, const CompilePlan& plan);
  void Remember(const Key& key, Known known);

  std::map<Key, Known> known_;
  std::deque<Key> oldest_;  // first
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_ESTIMATES_H_
