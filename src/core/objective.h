// The objectives, a row each: which metric it is, what finds it out, and how its values are
// written. Options, rewards, reports and Python read the table.
#ifndef HONE_CORE_OBJECTIVE_H_
#define HONE_CORE_OBJECTIVE_H_

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/metrics.h"
#include "core/state.h"

namespace hone {

// What a worker does to find a metric out, after every change.
enum class FoundBy {
  kCounting,      // instructions: it always does
  kCostAnalysis,  // XLA's
  kSchedule,      // XLA's memory schedule
  kLaunches,      // what a run launches, counted
  kModel,         // XLA's, of the target's machine
};

enum class Unit { kCount, kOperations, kBytes, kSeconds };

// Lower is better. The columns: enumerator; name; member of Metrics; FoundBy; what its value
// counts; Unit.
#define HONE_OBJECTIVES(ROW)                                                           \
  ROW(kOpCount, "op_count", op_count, kCounting, "instructions", kCount)               \
  ROW(kFlops, "flops", flops, kCostAnalysis, "floating-point operations", kOperations) \
  ROW(kBytes, "bytes", bytes_accessed, kCostAnalysis, "bytes accessed", kBytes)        \
  ROW(kPeakMemory, "peak_memory", peak_memory, kSchedule, "bytes at the peak", kBytes) \
  ROW(kKernels, "kernels", kernels, kLaunches, "kernels", kCount)                      \
  ROW(kEstimate, "estimate", estimated_seconds, kModel, "seconds by XLA's own model", kSeconds)

#define HONE_ENUMERATOR(enumerator, ...) enumerator,
enum class Objective { HONE_OBJECTIVES(HONE_ENUMERATOR) };
#undef HONE_ENUMERATOR

#define HONE_NAME(enumerator, name, ...) name,
inline constexpr std::string_view kObjectiveNames[] = {HONE_OBJECTIVES(HONE_NAME)};
#undef HONE_NAME

struct ObjectiveInfo {
  FoundBy found_by;
  const char* value_name;  // what its value counts
  Unit unit;
};

#define HONE_INFO(enumerator, name, member, found_by, value_name, unit) \
  {FoundBy::found_by, value_name, Unit::unit},
inline constexpr ObjectiveInfo kObjectives[] = {HONE_OBJECTIVES(HONE_INFO)};
#undef HONE_INFO

inline constexpr const ObjectiveInfo& InfoOf(Objective objective) {
  return kObjectives[static_cast<int>(objective)];
}

inline constexpr std::string_view ObjectiveName(Objective objective) {
  return kObjectiveNames[static_cast<int>(objective)];
}

inline std::optional<Objective> ObjectiveFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kObjectiveNames); ++i) {
    if (kObjectiveNames[i] == name) return static_cast<Objective>(i);
  }
  return std::nullopt;
}

inline double ObjectiveValue(Objective objective, const Metrics& metrics) {
#define HONE_CASE(enumerator, name, member, ...) \
  case Objective::enumerator:                    \
    return static_cast<double>(metrics.member);
  switch (objective) { HONE_OBJECTIVES(HONE_CASE) }
#undef HONE_CASE
  return 0;
}

// Whether loading a program leaves it out.
inline bool IsMeasuredApart(Objective objective) {
  const FoundBy found_by = InfoOf(objective).found_by;
  return found_by == FoundBy::kSchedule || found_by == FoundBy::kModel;
}

// Has the worker find out what the objective needs.
inline void Require(Objective objective, ApplyOptions& options) {
  const FoundBy found_by = InfoOf(objective).found_by;
  options.cost = options.cost || found_by == FoundBy::kCostAnalysis;
  options.peak_memory = options.peak_memory || found_by == FoundBy::kSchedule;
  options.estimate = options.estimate || found_by == FoundBy::kModel;
  options.kernels = options.kernels || found_by == FoundBy::kLaunches;
}

}  // namespace hone

#endif  // HONE_CORE_OBJECTIVE_H_
