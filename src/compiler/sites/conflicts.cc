#include "compiler/sites/conflicts.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/analysis/hlo_reachability.h"

namespace hone::compiler {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// Rewrites of one computation that read what lies behind their original. All others go along with
// the computation's own order, and any number of those makes no cycle.
constexpr size_t kMostForward = 512;

void SharedPlaces(const std::vector<Touched>& touched, Pairs& pairs) {
  absl::flat_hash_map<const xla::HloInstruction*, std::vector<uint32_t>> by_original;
  for (uint32_t i = 0; i < touched.size(); ++i) by_original[touched[i].original].push_back(i);
  const auto one_use = [&](uint32_t i) { return touched[i].user != nullptr; };
  for (uint32_t i = 0; i < touched.size(); ++i) {
    // Of the same original: unless they are about different uses of it.
    for (uint32_t j : by_original[touched[i].original]) {
      if (j <= i) continue;
      const bool apart = one_use(i) && one_use(j) &&
                         (touched[i].user != touched[j].user ||
                          touched[i].operand != touched[j].operand);
      if (!apart) pairs.push_back({i, j});
    }
    // Of an original that goes with another.
    for (const xla::HloInstruction* removed : touched[i].removed) {
      if (removed == touched[i].original) continue;
      const auto found = by_original.find(removed);
      if (found == by_original.end()) continue;
      for (uint32_t j : found->second) {
        if (j != i) pairs.push_back(std::minmax(i, j));
      }
    }
  }
}

void Cycles(const std::vector<Touched>& touched, std::vector<RewriteSite>& sites, Pairs& pairs) {
  absl::flat_hash_map<const xla::HloComputation*, std::vector<uint32_t>> forward;
  absl::flat_hash_map<const xla::HloComputation*,
                      absl::flat_hash_map<const xla::HloInstruction*, int64_t>>
      orders;
  for (uint32_t i = 0; i < touched.size(); ++i) {
    const xla::HloComputation* computation = touched[i].original->parent();
    if (computation == nullptr || touched[i].reads.empty()) continue;
    auto& order = orders[computation];
    if (order.empty()) {
      for (const xla::HloInstruction* next : computation->MakeInstructionPostOrder()) {
        order.try_emplace(next, static_cast<int64_t>(order.size()));
      }
    }
    const int64_t here = order[touched[i].original];
    const bool ahead = std::any_of(touched[i].reads.begin(), touched[i].reads.end(),
                                   [&](const auto* read) { return order[read] > here; });
    if (ahead) forward[computation].push_back(i);
  }
  for (const auto& [computation, ahead] : forward) {
    if (ahead.size() < 2 || ahead.size() > kMostForward) continue;
    const std::unique_ptr<xla::HloReachabilityMap> reach =
        xla::HloReachabilityMap::Build(const_cast<xla::HloComputation*>(computation));
    const auto reads_behind = [&](uint32_t i, uint32_t j) {
      return std::any_of(touched[i].reads.begin(), touched[i].reads.end(), [&](const auto* read) {
        return reach->IsReachable(touched[j].original, read);
      });
    };
    for (size_t a = 0; a < ahead.size(); ++a) {
      for (size_t b = a + 1; b < ahead.size(); ++b) {
        if (!reads_behind(ahead[a], ahead[b]) || !reads_behind(ahead[b], ahead[a])) continue;
        pairs.push_back({ahead[a], ahead[b]});
        sites[ahead[b]].status = SiteStatus::kCycle;
      }
    }
  }
}

}  // namespace

Pairs FindConflicts(const std::vector<Touched>& touched, std::vector<RewriteSite>& sites) {
  Pairs pairs;
  SharedPlaces(touched, pairs);
  for (const auto& [earlier, later] : pairs) sites[later].status = SiteStatus::kConflicts;
  Cycles(touched, sites, pairs);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace hone::compiler
