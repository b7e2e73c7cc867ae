// The main job: a better order of XLA's passes for one program, searched, replayed and verified.
#ifndef HONE_TUNE_OPTIMIZE_H_
#define HONE_TUNE_OPTIMIZE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/comparison.h"
#include "core/metrics.h"
#include "core/program.h"
#include "core/result.h"
#include "core/timing.h"
#include "wire/pool.h"

namespace hone {

enum class StopReason { kTime, kSteps, kExhausted, kInterrupted };
std::string_view StopReasonName(StopReason reason);

struct OptimizeProgress {
  std::string_view phase;  // "default order", "search", "replay", "verify"
  double seconds = 0;      // since the start
  int64_t steps = 0;
  double initial = 0;
  double by_default = 0;
  double best = 0;
};

struct OptimizeOptions {
  Objective objective = Objective::kOpCount;
  std::string actions = "simplify";
  std::string search = "local";
  double budget_seconds = 30;  // of the search; 0 is no limit
  int64_t budget_steps = 0;    // 0 is no limit
  uint64_t seed = 1;
  bool verify = true;
  CompareOptions compare;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const OptimizeProgress&)> progress;  // called a few times a second
};

struct Failure {
  std::string pass;
  std::string why;
  int64_t times = 0;
};

// A new best of the search.
struct Improvement {
  int64_t steps = 0;
  double seconds = 0;
  double value = 0;
};

struct OptimizeResult {
  double initial = 0;
  double by_default = 0;  // after the stock compiler's order, filtered to the action set
  std::string
      default_complaint;       // why there is no default order, if so; by_default is initial then
  double value = 0;            // of the result, replayed
  std::vector<PassId> passes;  // that make it; each changes something
  Fingerprint state;
  Metrics metrics;
  bool verification_ran = false;
  ComparisonReport verification;
  std::vector<std::string> rejected;  // better ones that did not stand up to replay or comparison
  StopReason stop_reason = StopReason::kTime;
  int64_t steps = 0;
  double search_seconds = 0;
  double verify_seconds = 0;
  Timing timing;  // of the workers, during the default order and the search
  std::vector<Failure> failures;
  std::vector<Improvement> improvements;

  bool verified() const { return verification_ran && verification.verdict == Verdict::kEqual; }
};

// The default order is a candidate, so the result is never worse than it. Of all that was found,
// the best that replays to what it promised and computes the same as the program is the result;
// where equality cannot be told, the best is returned with verification.reason saying why.
StatusOr<OptimizeResult> Optimize(Pool& pool, const ProgramInfo& program,
                                  const OptimizeOptions& options);

}  // namespace hone

#endif  // HONE_TUNE_OPTIMIZE_H_
