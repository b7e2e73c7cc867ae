#include "loops/estimate.h"

#include <algorithm>

#include "loops/own_text.h"

namespace hone::loops {
namespace {

// Of a scalar operation: one element that is read in order, or with a stride; a loop's iteration;
// and beginning a loop that processors share.
constexpr double kInOrder = 0.25;
constexpr double kStrided = 2;
constexpr double kIteration = 0.5;
constexpr double kSharing = 20000;

}  // namespace

double EstimatedCost(const Scheduled& scheduled, const Machine& machine) {
  double cost = 0;
  for (size_t i = 0; i < scheduled.program().nests.size(); ++i) {
    const Nest& nest = scheduled.program().nests[i];
    const SiteState& state = scheduled.states()[i];
    double points = 1;
    for (const Loop& loop : nest.loops) points *= static_cast<double>(loop.extent);
    if (nest.own_text()) {
      const double all = OwnTextOf(nest).cost(scheduled.schedule(), nest, machine);
      cost += state.parallel ? all / machine.threads + kSharing : all;
      continue;
    }
    // The innermost loop that has something to run through.
    size_t inner = state.order.back();
    for (size_t l = state.loops.size(); l-- > 0;) {
      if (state.loops[l].extent > 1) {
        inner = state.order[l];
        break;
      }
    }
    double memory = 0;
    for (const Access& read : nest.reads) {
      const double apart = Apart(read, inner);
      const int producer = scheduled.program().ProducerOf(read.tensor);
      const bool near =
          producer >= 0 && scheduled.states()[static_cast<size_t>(producer)].fused_into >= 0;
      if (apart > 0 && !near) memory += apart == 1 ? kInOrder : kStrided;
    }
    const double apart = Apart(nest.write, inner);
    memory += state.fused_into >= 0 || apart == 0 ? 0 : apart == 1 ? kInOrder : kStrided;
    double tile = 1, reused = 0;
    for (const Loop& loop : state.loops) tile *= static_cast<double>(loop.extent);
    double work = static_cast<double>(nest.body.size());
    double iterations = kIteration;
    if (state.vectorized) {
      const auto lanes = static_cast<double>(machine.Lanes(nest.element));
      work /= std::min(lanes, tile);
      iterations /= tile;
      // Of a tile in registers each operand is read once.
      double parts = 0;
      for (const Access& read : nest.reads) {
        double part = 1;
        for (size_t l = 0; l < state.loops.size(); ++l) {
          const bool occurs = std::any_of(read.rows.begin(), read.rows.end(),
                                          [&](const Row& row) { return row[state.order[l]] != 0; });
          if (occurs) part *= static_cast<double>(state.loops[l].extent);
        }
        parts += part / tile;
      }
      reused = 1 - std::min(1.0, parts / static_cast<double>(nest.reads.size()));
    }
    if (state.unrolled) iterations /= 2;
    double nest_cost = points * (work + memory * (1 - reused) + iterations);
    // A fused nest runs on the processors of its container.
    const SiteState& around =
        state.fused_into >= 0 ? scheduled.states()[static_cast<size_t>(state.fused_into)] : state;
    if (around.parallel) nest_cost = nest_cost / machine.threads;
    if (state.parallel) nest_cost += kSharing;
    cost += nest_cost;
  }
  return cost;
}

}  // namespace hone::loops
