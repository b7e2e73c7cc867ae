#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loops/accumulate.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostLanes = 64;

std::string WhyNot(const Schedule&, const Nest& nest, const SiteState& state, const Step& step) {
  const std::string neither = WhyNeitherSharedNorTiled("accumulates", state, step);
  if (!neither.empty()) return neither;
  const bool parallel = step.kind == StepKind::kParallel;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const int64_t size = step.numbers[i];
    if (size == 0) continue;
    if (parallel && i == 1) return "processors cannot share what accumulates";
    if (parallel && size > nest.loops[i].extent) {
      return fmt::format("loop {} has only {} iterations", i, nest.loops[i].extent);
    }
    if (!parallel && i + 1 < nest.loops.size()) return fmt::format("loop {} stays whole", i);
    if (!parallel && (size < 2 || size > kMostLanes || (size & (size - 1)) != 0)) {
      return "so many elements in a vector are a power of two, 64 at most";
    }
  }
  return "";
}

Schedule ByThumb(const Nest& nest, const Machine& machine) {
  const size_t rank = nest.loops.size();
  const auto lanes = machine.Lanes(nest.element);
  int64_t points = 1;
  for (const Loop& loop : nest.loops) points *= loop.extent;
  int64_t wanted = machine.Parts(points / kLeastShared, 4);
  std::vector<int64_t> parallel(rank, 0), tile(rank, 0);
  const int64_t rows = nest.loops[0].extent;
  if (wanted > 1 && rows > 1) {
    parallel[0] = (rows + wanted - 1) / wanted;
    wanted = (wanted + rows - 1) / rows;
  }
  if (wanted > 1 && rank == 3 && nest.loops[2].extent > lanes) {
    const int64_t each = (nest.loops[2].extent + wanted - 1) / wanted;
    parallel[2] = std::min(nest.loops[2].extent, (each + lanes - 1) / lanes * lanes);
  }
  tile[rank - 1] = lanes;
  return {{nest.site, StepKind::kParallel, parallel, ""}, {nest.site, StepKind::kTile, tile, ""}};
}

double Cost(const Schedule& schedule, const Nest& nest, const Machine& machine) {
  const auto lanes = static_cast<double>(AccumulateSizesOf(schedule, nest).lanes);
  // A vector of the machine's, or part of one.
  const double wide = std::max(1.0, lanes / static_cast<double>(machine.Lanes(nest.element)));
  const double steps = nest.loops.size() == 2 ? 2 * std::log2(lanes) + 5 : 4;
  double points = 1;
  for (const Loop& loop : nest.loops) points *= static_cast<double>(loop.extent);
  return points / lanes * wide * steps;
}

}  // namespace

AccumulateSizes AccumulateSizesOf(const Schedule& schedule, const Nest& nest) {
  AccumulateSizes sizes;
  sizes.parallel.assign(nest.loops.size(), 0);
  for (const Step& step : schedule) {
    if (step.site != nest.site) continue;
    if (step.kind == StepKind::kParallel) sizes.parallel = step.numbers;
    if (step.kind == StepKind::kTile) sizes.lanes = step.numbers.back();
  }
  return sizes;
}

const OwnText kAccumulating = {WhyNot, ByThumb, Cost, AccumulateText};

}  // namespace hone::loops
