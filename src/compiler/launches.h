// What of a module is launched, and how often: instructions that run kernels, in the computations that the
// entry and its control flow run.
#ifndef HONE_COMPILER_LAUNCHES_H_
#define HONE_COMPILER_LAUNCHES_H_

#include <cstdint>
#include <functional>

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// What a loop counts as whose trip count is not known: no pass gains by losing it.
inline constexpr int64_t kUnknownTrips = 1000;

// The entry first, each computation once. `times` of a run, over all its calls: a loop's body counts as often
// as its trip count says, by XLA's annotation or, without one, by XLA's analysis of the loop; of branches
// each counts.
void ForEachRun(const xla::HloModule& module,
                const std::function<void(const xla::HloComputation&, double times)>& visit);

// Loops that run, of unknown trip count.
int64_t UnknownLoops(const xla::HloModule& module);

// Not so: parameters, constants, tuples, bitcasts and the like, and what only calls computations.
bool RunsKernel(const xla::HloInstruction& instruction);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_LAUNCHES_H_
