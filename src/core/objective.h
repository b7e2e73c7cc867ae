// The objectives: what each needs of a worker, and how its values are written. An objective is a
// name and a getter in metrics.h, and a row here.
#ifndef HONE_CORE_OBJECTIVE_H_
#define HONE_CORE_OBJECTIVE_H_

#include <iterator>

#include "core/metrics.h"
#include "core/state.h"

namespace hone {

enum class Unit { kCount, kOperations, kBytes, kSeconds };

struct ObjectiveInfo {
  Objective objective;
  bool cost;               // it needs XLA's cost analysis after every pass
  bool peak_memory;        // and this XLA's memory schedule
  bool estimate;           // and this its model of the target's machine
  bool kernels;            // and this what is launched, counted
  const char* value_name;  // what its value counts
  Unit unit;
};

inline constexpr ObjectiveInfo kObjectives[] = {
    {Objective::kOpCount, false, false, false, false, "instructions", Unit::kCount},
    {Objective::kFlops, true, false, false, false, "floating-point operations", Unit::kOperations},
    {Objective::kBytes, true, false, false, false, "bytes accessed", Unit::kBytes},
    {Objective::kPeakMemory, false, true, false, false, "bytes at the peak", Unit::kBytes},
    {Objective::kKernels, false, false, false, true, "kernels", Unit::kCount},
    {Objective::kEstimate, false, false, true, false, "seconds by XLA's own model", Unit::kSeconds},
};
static_assert(std::size(kObjectives) == std::size(kObjectiveNames));

inline constexpr const ObjectiveInfo& InfoOf(Objective objective) {
  return kObjectives[static_cast<int>(objective)];
}

// Whether loading a program leaves it out.
inline bool IsMeasuredApart(Objective objective) {
  return InfoOf(objective).peak_memory || InfoOf(objective).estimate;
}

// Has the worker find out what the objective needs.
inline void Require(Objective objective, ApplyOptions& options) {
  options.cost = options.cost || InfoOf(objective).cost;
  options.peak_memory = options.peak_memory || InfoOf(objective).peak_memory;
  options.estimate = options.estimate || InfoOf(objective).estimate;
  options.kernels = options.kernels || InfoOf(objective).kernels;
}

}  // namespace hone

#endif  // HONE_CORE_OBJECTIVE_H_
