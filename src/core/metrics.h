// The costs of a program state, and which of them is the objective.
#ifndef HONE_CORE_METRICS_H_
#define HONE_CORE_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace hone {

struct Metrics {
  // Instructions of every computation reachable from the entry, fusion bodies included, each
  // computation once.
  int64_t op_count = 0;
  // XLA's HloCostAnalysis, one run of the program; a while loop's body counts once where its trip
  // count is unknown. -1 where not asked for.
  double flops = -1;
  double transcendentals = -1;
  double bytes_accessed = -1;
  // Bytes live at the peak of XLA's own memory schedule. -1 where not asked for.
  int64_t peak_memory = -1;
  int32_t computations = 0;  // reachable from the entry, it among them
  int32_t loop_depth = 0;    // the deepest nest of while loops
  // Kernels that a run launches, were every instruction outside of a fusion one; a loop's as often as its
  // trip count says, 1,000 times where XLA does not know it. -1 where not asked for.
  int64_t kernels = -1;
  // One run by XLA's own model of the target's machine, each instruction outside of a fusion a kernel. -1
  // where not asked for or where XLA has no such model, as of CPUs.
  double estimated_seconds = -1;
};

// Lower is better. All but op_count need XLA's cost analysis, scheduler or model after every change.
enum class Objective { kOpCount, kFlops, kBytes, kPeakMemory, kKernels, kEstimate };

inline constexpr std::string_view kObjectiveNames[] = {"op_count",    "flops",   "bytes",
                                                       "peak_memory", "kernels", "estimate"};

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
  switch (objective) {
    case Objective::kOpCount:
      return static_cast<double>(metrics.op_count);
    case Objective::kFlops:
      return metrics.flops;
    case Objective::kBytes:
      return metrics.bytes_accessed;
    case Objective::kPeakMemory:
      return static_cast<double>(metrics.peak_memory);
    case Objective::kKernels:
      return static_cast<double>(metrics.kernels);
    case Objective::kEstimate:
      return metrics.estimated_seconds;
  }
  return 0;
}

}  // namespace hone

#endif  // HONE_CORE_METRICS_H_
