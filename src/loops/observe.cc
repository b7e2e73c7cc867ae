#include "loops/observe.h"

#include <algorithm>
#include <cmath>

namespace hone::loops {
namespace {

float Log2(int64_t extent) { return static_cast<float>(std::log2(static_cast<double>(extent))); }

}  // namespace

std::vector<const Access*> SeenAccesses(const Nest& nest) {
  std::vector<const Access*> accesses(kSeenAccesses, nullptr);
  for (size_t i = 0; i < std::min(nest.reads.size(), kSeenAccesses - 1); ++i) {
    accesses[i] = &nest.reads[i];
  }
  accesses.back() = &nest.write;
  return accesses;
}

void ObserveLoops(const Scheduled& scheduled, size_t nest, float* out) {
  const SiteState& state = scheduled.states()[nest];
  for (size_t l = 0; l < std::min(state.loops.size(), kSeenLoops); ++l, out += kLoopFeatures) {
    out[0] = Log2(scheduled.program().nests[nest].loops[state.order[l]].extent);
    out[1] = Log2(state.loops[l].extent);
    out[2] = state.loops[l].reduction ? 1 : 0;
    out[3] = 1;
  }
}

void ObserveAccesses(const Scheduled& scheduled, size_t nest, float* out) {
  const SiteState& state = scheduled.states()[nest];
  for (const Access* access : SeenAccesses(scheduled.program().nests[nest])) {
    const size_t dimensions =
        access == nullptr ? 0 : std::min(access->rows.size(), kSeenDimensions);
    for (size_t d = 0; d < dimensions; ++d) {
      for (size_t l = 0; l < std::min(state.order.size(), kSeenLoops); ++l) {
        out[d * kSeenLoops + l] = static_cast<float>(access->rows[d][state.order[l]]);
      }
    }
    out += kSeenDimensions * kSeenLoops;
  }
}

void ObserveOperations(const Scheduled& scheduled, size_t nest, float* out) {
  for (const Scalar& node : scheduled.program().nests[nest].body) {
    if (static_cast<size_t>(node.kind) < kSeenScalars) out[node.kind] += 1;
  }
}

void ObserveState(const Scheduled& scheduled, size_t nest, float* out) {
  const SiteState& state = scheduled.states()[nest];
  const std::string copy = scheduled.program().nests[nest].site + ".pack";
  const bool packed = scheduled.program().FindSite(copy + "0") >= 0 ||
                      scheduled.program().FindSite(copy + "1") >= 0;
  out[0] = packed ? 1 : 0;
  out[1] = state.parallel ? 1 : 0;
  out[2] = static_cast<float>(state.tiles);
  out[3] = state.fused_into >= 0 ? 1 : 0;
  out[4] = state.vectorized ? 1 : 0;
  out[5] = state.unrolled ? 1 : 0;
  out[6] = static_cast<float>(state.steps);
  out[7] = 1;
}

}  // namespace hone::loops
