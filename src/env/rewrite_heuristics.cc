#include "env/rewrite_heuristics.h"

#include <algorithm>
#include <numeric>

namespace hone {
namespace {

double Delta(const RewriteSite& site, Objective objective) {
  switch (objective) {
    case Objective::kFlops:
      return site.delta_flops;
    case Objective::kBytes:
      return site.delta_bytes;
    default:
      return static_cast<double>(site.delta_op_count);
  }
}

}  // namespace

std::vector<bool> AcceptAll(const Rewrites& rewrites, Objective, Rng&) {
  return std::vector<bool>(rewrites.sites.size(), true);
}

std::vector<bool> AcceptNone(const Rewrites& rewrites, Objective, Rng&) {
  return std::vector<bool>(rewrites.sites.size(), false);
}

std::vector<bool> AcceptByDelta(const Rewrites& rewrites, Objective objective, Rng&) {
  std::vector<size_t> order(rewrites.sites.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return Delta(rewrites.sites[a], objective) < Delta(rewrites.sites[b], objective);
  });
  std::vector<std::vector<uint32_t>> against(rewrites.sites.size());
  for (const auto& [i, j] : rewrites.conflicts) {
    against[i].push_back(j);
    against[j].push_back(i);
  }
  std::vector<bool> accept(rewrites.sites.size());
  for (const size_t site : order) {
    if (Delta(rewrites.sites[site], objective) >= 0) break;
    accept[site] = std::none_of(against[site].begin(), against[site].end(),
                                [&](uint32_t other) { return accept[other]; });
  }
  return accept;
}

std::vector<bool> AcceptBySize(const Rewrites& rewrites, Objective, Rng&) {
  std::vector<bool> accept;
  for (const RewriteSite& site : rewrites.sites) accept.push_back(site.delta_op_count <= 0);
  return accept;
}

std::vector<bool> AcceptRandom(const Rewrites& rewrites, Objective, Rng& rng) {
  std::vector<bool> accept;
  for (size_t i = 0; i < rewrites.sites.size(); ++i) accept.push_back((rng.Next() >> 33 & 1) != 0);
  return accept;
}

}  // namespace hone
