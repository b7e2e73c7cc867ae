// The costs of a program state.
#ifndef HONE_CORE_METRICS_H_
#define HONE_CORE_METRICS_H_

#include <cstdint>

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
  // Kernels that a run launches, were every instruction outside of a fusion one; a loop's as often
  // as its trip count says, 1,000 times where XLA does not know it. -1 where not asked for.
  int64_t kernels = -1;
  // One run by XLA's own model of the target's machine, each instruction outside of a fusion a
  // kernel. -1 where not asked for or where XLA has no such model, as of CPUs.
  double estimated_seconds = -1;
};

}  // namespace hone

#endif  // HONE_CORE_METRICS_H_
