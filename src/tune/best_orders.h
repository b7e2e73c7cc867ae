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

// An order of passes that the search has met.
struct FoundOrder {
  double value = 0;
  std::vector<PassId> passes;
  Fingerprint state;
  bool stood_back = false;  // came out worse than promised once
};

// How many finalists with rules of patterns may fail the comparison, and how many others there are
// to fall back on.
inline constexpr size_t kFallbacks = 2;

inline bool IsRules(const PassInfo& pass) { return pass.kind == PassKind::kRules; }
inline bool IsPatterns(const PassInfo& pass) { return IsRules(pass) && pass.name != "batch_lanes"; }

// Whether `is` holds of one of the candidate's passes.
inline bool Uses(const FoundOrder& candidate, const std::vector<PassInfo>& passes,
                 bool (*is)(const PassInfo&)) {
  return std::any_of(candidate.passes.begin(), candidate.passes.end(),
                     [&](PassId pass) { return is(passes[pass]); });
}

// The best few, each another state, best first.
class BestOrders {
 public:
  void Offer(FoundOrder candidate) {
    for (FoundOrder& known : best_) {
      if (known.state != candidate.state) continue;
      if (candidate.passes.size() < known.passes.size()) known = std::move(candidate);
      return;
    }
    best_.insert(std::upper_bound(best_.begin(), best_.end(), candidate, Better),
                 std::move(candidate));
    if (best_.size() > kMost) best_.pop_back();
  }
  std::vector<FoundOrder>& all() { return best_; }
  double value() const { return best_.front().value; }

 private:
  static constexpr size_t kMost = 8;  // kept for replay and comparison
  static bool Better(const FoundOrder& a, const FoundOrder& b) {
    return a.value != b.value ? a.value < b.value : a.passes.size() < b.passes.size();
  }
  std::vector<FoundOrder> best_;
};

}  // namespace hone

#endif  // HONE_TUNE_BEST_ORDERS_H_
