// Runs two programs against each other on XLA:CPU.
#ifndef HONE_COMPILER_RUN_RACE_H_
#define HONE_COMPILER_RUN_RACE_H_

#include <functional>
#include <memory>

#include "compiler/run/shared_inputs.h"
#include "core/compile_plan.h"
#include "core/race.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// A program ready to run. To race one program against many, prepare it once.
class Racer {
 public:
  // Compiles as the stock compiler does, but for what the plan decides otherwise. Generated inputs
  // are for what `program` does with its parameters, which is easier to see before passes change
  // it; null: the module is that program. Errors: kUnsupported for what cannot run here, with the
  // reason; kInvalidInput for the plan's flags.
  static StatusOr<std::unique_ptr<Racer>> Prepare(const xla::HloModule& module,
                                                  const TimedInputs& inputs,
                                                  const CompilePlan& plan = {},
                                                  const xla::HloModule* program = nullptr);
  // With the inputs of another one, which must take the same parameters.
  static StatusOr<std::unique_ptr<Racer>> Prepare(const xla::HloModule& module,
                                                  const CompilePlan& plan, const Racer& other);
  virtual ~Racer() = default;
};

// Both racers' programs must take the same parameters; `b` should have been given `a`'s inputs.
// Calls `sampled` after each sample. Errors: kUnsupported where a run fails.
StatusOr<RaceReport> Race(const Racer& a, const Racer& b, const RaceOptions& options,
                          const std::function<void()>& sampled = {});

// Prepares both, as the stock compiler compiles them, and races them.
StatusOr<RaceReport> Race(const xla::HloModule& a, const xla::HloModule& b,
                          const RaceOptions& options);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_RACE_H_
