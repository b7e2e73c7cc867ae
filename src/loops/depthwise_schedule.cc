#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loops/depthwise.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostLanes = 64;
constexpr int64_t kLeastOfPart = 1 << 17;  // multiplications: some 5 microseconds

std::string WhyNot(const Schedule&, const Nest& nest, const SiteState& state, const Step& step) {
  const SlidingLoops loops(nest);
  const std::string neither = WhyNeitherSharedNorTiled("slides", state, step);
  if (!neither.empty()) return neither;
  const bool parallel = step.kind == StepKind::kParallel;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const int64_t size = step.numbers[i];
    if (size == 0) continue;
    if (i > loops.feature) return fmt::format("loop {} sums up: it stays whole", i);
    if (parallel && size > nest.loops[i].extent) {
      return fmt::format("loop {} has only {} iterations", i, nest.loops[i].extent);
    }
    if (parallel) continue;
    if (i < loops.along) return fmt::format("loop {} goes one by one", i);
    if (i == loops.along && size > SlidingSizes::kMostPositions) {
      return fmt::format("there are at most {} positions in registers",
                         SlidingSizes::kMostPositions);
    }
    if (i == loops.feature && (size < 4 || size > kMostLanes || (size & (size - 1)) != 0)) {
      return fmt::format("features in a vector are a power of two from 4 to {}", kMostLanes);
    }
  }
  return "";
}

// Of so many at most, a number of positions whose blocks have the least left over; the largest of
// these.
int64_t PositionsByThumb(int64_t extent, int64_t most) {
  int64_t best = std::min(extent, most);
  double least = 1e9;
  for (int64_t size = best; size >= std::max<int64_t>(1, best / 2); --size) {
    const auto blocks = static_cast<double>((extent + size - 1) / size);
    const double cost = blocks * (static_cast<double>(size) + 2);
    if (cost < least) {
      least = cost;
      best = size;
    }
  }
  return best;
}

int64_t PointsOf(const Nest& nest) {
  int64_t points = 1;
  for (const Loop& loop : nest.loops) points *= loop.extent;
  return points;
}

Schedule ByThumb(const Nest& nest, const Machine& machine) {
  const SlidingLoops loops(nest);
  const int64_t features = nest.loops[loops.feature].extent;
  int64_t lanes = std::max<int64_t>(4, machine.Lanes(nest.element));
  while (lanes > 4 && features <= lanes / 2) lanes /= 2;
  const int64_t most = machine.vector_registers >= 32 ? 12 : 8;
  const int64_t positions = PositionsByThumb(nest.loops[loops.along].extent, most);
  std::vector<int64_t> parallel(nest.loops.size(), 0), tile = parallel;
  tile[loops.along] = positions;
  tile[loops.feature] = lanes;
  int64_t wanted = machine.Parts(PointsOf(nest) / kLeastOfPart, /*each=*/2);
  if (wanted > machine.threads) wanted -= wanted % machine.threads;
  const auto share = [&](size_t loop, int64_t step) {
    const int64_t extent = nest.loops[loop].extent, blocks = (extent + step - 1) / step;
    if (wanted <= 1 || blocks < 2) return;
    const int64_t each = (blocks + wanted - 1) / wanted;
    parallel[loop] = std::min(extent, each * step);
    wanted = (wanted + blocks - 1) / blocks;
  };
  // Few rows are not shared evenly; features are.
  const int64_t vectors = features / lanes;
  for (size_t l = 0; l < loops.along; ++l) {
    const int64_t extent = nest.loops[l].extent;
    if (extent % wanted == 0 || extent >= 4 * wanted || vectors < 2 * wanted) share(l, 1);
  }
  if (nest.loops[loops.along].extent >= 8 * positions * wanted) share(loops.along, positions);
  share(loops.feature, lanes);
  return {{nest.site, StepKind::kParallel, parallel, ""}, {nest.site, StepKind::kTile, tile, ""}};
}

// A place along the last dimension is read once a block and tap of the others, and each tap once.
double Cost(const Schedule& schedule, const Nest& nest, const Machine& machine) {
  const SlidingSizes sizes = SlidingSizesOf(schedule, nest);
  const SlidingLoops loops(nest);
  const auto lanes = static_cast<double>(machine.Lanes(nest.element));
  const double wide = std::ceil(static_cast<double>(sizes.lanes) / lanes);
  const size_t last_tap = loops.Tap(loops.spatial - 1);
  const int64_t along = nest.loops[loops.along].extent, taps = nest.loops[last_tap].extent;
  const int64_t positions = std::min(sizes.positions, along);
  const int64_t stride = nest.reads[0].rows[loops.along][loops.along];
  double blocks =
      static_cast<double>((along + positions - 1) / positions) *
      static_cast<double>((nest.loops[loops.feature].extent + sizes.lanes - 1) / sizes.lanes);
  double rows = 1;  // of taps in a block
  for (size_t l = 0; l < loops.along; ++l) blocks *= static_cast<double>(nest.loops[l].extent);
  for (size_t l = loops.Tap(0); l < last_tap; ++l)
    rows *= static_cast<double>(nest.loops[l].extent);
  const auto places =
      static_cast<double>(std::min(positions * taps, (positions - 1) * stride + taps));
  const auto multiplied = static_cast<double>(positions * taps);
  double row = wide * std::max(multiplied, places + static_cast<double>(taps)) / 2 + 4;
  if (wide * static_cast<double>(positions + 3) > machine.vector_registers) row *= 2;  // it spills
  return blocks * (rows * row + wide * static_cast<double>(positions) + 4);
}

}  // namespace

SlidingSizes SlidingSizesOf(const Schedule& schedule, const Nest& nest) {
  SlidingSizes sizes;
  const SlidingLoops loops(nest);
  sizes.parallel.assign(nest.loops.size(), 0);
  for (const Step& step : schedule) {
    if (step.site != nest.site) continue;
    if (step.kind == StepKind::kParallel) sizes.parallel = step.numbers;
    if (step.kind != StepKind::kTile) continue;
    if (step.numbers[loops.along] != 0) sizes.positions = step.numbers[loops.along];
    if (step.numbers[loops.feature] != 0) sizes.lanes = step.numbers[loops.feature];
  }
  return sizes;
}

const OwnText kSliding = {WhyNot, ByThumb, Cost, SlidingText};

}  // namespace hone::loops
