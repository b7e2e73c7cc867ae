// The best orders of passes that a search has met.
#ifndef HONE_TUNE_BEST_ORDERS_H_
#define HONE_TUNE_BEST_ORDERS_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/pass.h"
#include "core/state.h"

namespace hone {

struct Candidate {
  double value = 0;
  std::vector<PassId> passes;
  Fingerprint state;
  bool stood_back = false;  // came out worse than promised once
};

// Finalists with rules of patterns that may fail the comparison, and the number of others to fall
// back on.
inline constexpr size_t kFallbacks = 2;

inline bool IsRules(const PassInfo& pass) { return pass.kind == PassKind::kRules; }
inline bool IsPatterns(const PassInfo& pass) { return IsRules(pass) && pass.name != "batch_lanes"; }

// Whether a pass of the candidate's is so.
inline bool Uses(const Candidate& candidate, const std::vector<PassInfo>& passes,
                 bool (*is)(const PassInfo&)) {
  return std::any_of(candidate.passes.begin(), candidate.passes.end(),
                     [&](PassId pass) { return is(passes[pass]); });
}

// The best few, each another state, best first.
class BestOrders {
 public:
  void Offer(Candidate candidate) {
    for (Candidate& known : best_) {
      if (known.state != candidate.state) continue;
      if (candidate.passes.size() < known.passes.size()) known = std::move(candidate);
      return;
    }
    best_.insert(std::upper_bound(best_.begin(), best_.end(), candidate, Better),
                 std::move(candidate));
    if (best_.size() > kMost) best_.pop_back();
  }
  std::vector<Candidate>& all() { return best_; }
  double value() const { return best_.front().value; }

 private:
  static constexpr size_t kMost = 8;  // kept for replay and comparison
  static bool Better(const Candidate& a, const Candidate& b) {
    return a.value != b.value ? a.value < b.value : a.passes.size() < b.passes.size();
  }
  std::vector<Candidate> best_;
};

}  // namespace hone

#endif  // HONE_TUNE_BEST_ORDERS_H_
