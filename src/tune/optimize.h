// The main job: a better order of XLA's passes for one program, searched, replayed and verified.
#ifndef HONE_TUNE_OPTIMIZE_H_
#define HONE_TUNE_OPTIMIZE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/comparison.h"
#include "core/objective.h"
#include "core/program.h"
#include "core/result.h"
#include "core/timing.h"
#include "policy/policy.h"
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
  // For the searchers that need them. Where given, others use them too: a coreset's sequences as
  // further starts (guided search takes them behind the policy's own walk), a policy for its
  // probabilities.
  std::vector<std::vector<std::string>> coreset;
  std::shared_ptr<const policy::Policy> policy;
  // The default order is where the search starts, and the result if nothing beats it. Without it
  // the search is on its own, as learners and searchers are compared.
  bool from_default = true;
  // Orders that were found before: looked at first, which no budget counts, so that the result is
  // not worse than the best of them that stands.
  std::vector<std::vector<std::string>> known;
  double budget_seconds = 30;  // of the search, the default order left out; 0 is no limit
  int64_t budget_steps = 0;    // of those that were not known (PassOrder::evaluated); 0: no limit
  size_t longest = 256;        // passes in a sequence
  uint64_t seed = 1;
  bool verify = true;
  CompareOptions compare;
  ExportFormat format = ExportFormat::kProto;  // of OptimizeResult::bytes
  // These come out the same in all processes and searches that end at the same passes: they are
  // made by a process that has done nothing else, which takes a moment to start. (XLA's hash tables
  // are salted by their number, and some passes walk through them.)
  bool same_bytes = false;
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
  int64_t steps = 0;   // PassOrder::evaluated
  double seconds = 0;  // since the search began; 0 for the default order
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
  std::string bytes;  // the result as a file: this, read again, is what was compared
  bool verification_ran = false;
  ComparisonReport verification;
  std::vector<std::string> rejected;  // better ones that did not stand up to replay or comparison
  StopReason stop_reason = StopReason::kTime;
  // Of the search, the default order left out, as all that follows.
  int64_t steps = 0;      // taken, by looking up or by running
  int64_t evaluated = 0;  // of them those that had not been taken before from the same state
  double search_seconds = 0;
  double verify_seconds = 0;
  Timing timing;  // of the workers
  std::vector<Failure> failures;
  std::vector<Improvement> improvements;

  bool verified() const { return verification_ran && verification.verdict == Verdict::kEqual; }
};

// With from_default the result is never worse than the default order's. Of all that was found, the
// best that replays to what it promised and computes the same as the program is the result;
// where equality cannot be told, the best is returned with verification.reason saying why. One that
// fails gives way to the next, at last to XLA's own order and then to the program as it was.
StatusOr<OptimizeResult> Optimize(Pool& pool, const ProgramInfo& program,
                                  const OptimizeOptions& options);

}  // namespace hone

#endif  // HONE_TUNE_OPTIMIZE_H_
