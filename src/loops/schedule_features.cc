#include "loops/schedule_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "loops/estimate.h"

namespace hone::loops {
namespace {

float Log2(double size) { return static_cast<float>(std::log2(std::max(size, 1.0))); }

double Points(const std::vector<Loop>& loops) {
  double points = 1;
  for (const Loop& loop : loops) points *= static_cast<double>(loop.extent);
  return points;
}

// Of a nest's loops, how long a tile's are, by the nest's order.
std::vector<int64_t> ExtentsOf(const SiteState& state, size_t loops) {
  std::vector<int64_t> extents(loops, 1);
  for (size_t l = 0; l < state.loops.size(); ++l) {
    if (state.order[l] < loops) extents[state.order[l]] = state.loops[l].extent;
  }
  return extents;
}

// Elements of an access that a tile takes.
double PartOf(const Access& access, const std::vector<int64_t>& extents) {
  double part = 1;
  for (const Row& row : access.rows) {
    double size = 1;
    for (size_t l = 0; l < row.size(); ++l) {
      size += static_cast<double>(std::abs(row[l]) * (extents[l] - 1));
    }
    part *= size;
  }
  return part;
}

// The tiles of a site that processors share, and those of the step behind it, by the nest's order.
struct Tiles {
  double parts = 1;                // that processors share
  std::vector<int64_t> outermost;  // extents of the first tile
};

Tiles TilesOf(const Scheduled& scheduled, const Nest& nest) {
  Tiles tiles;
  std::vector<size_t> order(nest.loops.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const Loop& loop : nest.loops) tiles.outermost.push_back(loop.extent);
  bool first = true;
  for (const Step& step : scheduled.schedule()) {
    if (step.site != nest.site || step.numbers.size() != order.size()) continue;
    if (step.kind == StepKind::kInterchange) {
      std::vector<size_t> next;
      for (const int64_t number : step.numbers) next.push_back(order[static_cast<size_t>(number)]);
      order = next;
    }
    if (step.kind != StepKind::kTile && step.kind != StepKind::kParallel) continue;
    for (size_t l = 0; l < order.size() && first; ++l) {
      const int64_t size = step.numbers[l];
      if (size <= 0) continue;
      if (step.kind == StepKind::kParallel) {
        tiles.parts *=
            std::ceil(static_cast<double>(nest.loops[order[l]].extent) / static_cast<double>(size));
      }
      tiles.outermost[order[l]] = std::min(tiles.outermost[order[l]], size);
    }
    first = false;
  }
  return tiles;
}

std::vector<float> NestFeatures(const Scheduled& scheduled, size_t index, const Machine& machine) {
  const Nest& nest = scheduled.program().nests[index];
  const SiteState& state = scheduled.states()[index];
  const auto bytes = static_cast<double>(InfoOf(nest.element).bytes);
  const double lanes = static_cast<double>(machine.vector_bytes) / bytes;
  const double points = Points(nest.loops), tile = Points(state.loops);
  const std::vector<int64_t> extents = ExtentsOf(state, nest.loops.size());
  const Tiles tiles = TilesOf(scheduled, nest);
  // The two innermost loops that have something to run through.
  std::vector<size_t> inner;
  for (size_t l = state.loops.size(); l-- > 0 && inner.size() < 2;) {
    if (state.loops[l].extent > 1) inner.push_back(l);
  }
  std::vector<float> f;
  const auto put = [&](double value) { f.push_back(static_cast<float>(value)); };
  put(Log2(points));
  put(static_cast<double>(nest.body.size()));
  put(nest.reduces() ? 1 : 0);
  put(static_cast<double>(nest.loops.size()));
  put(state.vectorized ? 1 : 0);
  put(state.unrolled ? 1 : 0);
  put(state.parallel ? 1 : 0);
  put(state.fused_into >= 0 ? 1 : 0);
  put(state.tiles);
  put(Log2(tile));
  put(Log2(points / tile));  // how often a tile is begun
  put(Log2(tiles.parts));
  put(machine.threads > 1 ? Log2(tiles.parts / machine.threads) : 0);
  put(Log2(tile / lanes));  // vectors of a tile
  const SiteState* const around =
      state.fused_into >= 0 ? &scheduled.states()[static_cast<size_t>(state.fused_into)] : nullptr;
  put(around != nullptr && around->parallel ? 1 : 0);
  put(scheduled.program().IsOutput(nest.write.tensor) ? 1 : 0);
  for (size_t i = 0; i < 2; ++i) {
    if (i >= inner.size()) {
      f.insert(f.end(), 7, 0);
      continue;
    }
    const Loop& loop = state.loops[inner[i]];
    const auto extent = static_cast<double>(loop.extent);
    put(Log2(extent));
    put(loop.reduction ? 1 : 0);
    put(extent / lanes - std::floor(extent / lanes));  // the rest behind full vectors
    double stays = 0, runs = 0, leaps = 0;
    for (const Access& read : nest.reads) {
      const double apart = std::abs(Apart(read, state.order[inner[i]]));
      (apart == 0 ? stays : apart == 1 ? runs : leaps) += 1;
    }
    put(stays);
    put(runs);
    put(leaps);
    put(std::min(std::abs(Apart(nest.write, state.order[inner[i]])), 2.0));
  }
  double tile_bytes = 0, first_bytes = 0, all_bytes = 0, reads = 0;
  std::vector<int64_t> whole;
  for (const Loop& loop : nest.loops) whole.push_back(loop.extent);
  std::vector<const Access*> accesses = {&nest.write};
  for (const Access& read : nest.reads) accesses.push_back(&read);
  for (const Access* access : accesses) {
    tile_bytes += bytes * PartOf(*access, extents);
    first_bytes += bytes * PartOf(*access, tiles.outermost);
    all_bytes += bytes * PartOf(*access, whole);
    if (access != &nest.write) reads += PartOf(*access, extents);
  }
  put(Log2(tile_bytes));
  put(Log2(first_bytes));
  put(Log2(all_bytes));
  put(reads / tile);  // elements that are read for each point of a tile
  int strided = 0, windows = 0;
  for (const Access& read : nest.reads) {
    for (const Row& row : read.rows) {
      const auto used = std::count_if(row.begin(), row.end(), [](int64_t c) { return c != 0; });
      windows += used > 1 ? 1 : 0;
      strided += std::any_of(row.begin(), row.end(), [](int64_t c) { return std::abs(c) > 1; });
    }
  }
  put(strided);
  put(windows);
  put(static_cast<double>(std::count_if(
      scheduled.states().begin(), scheduled.states().end(),
      [&](const SiteState& other) { return other.fused_into == static_cast<int>(index); })));
  put(nest.site.find(".pack") != std::string::npos ? 1 : 0);
  f.resize(kNestFeatures, 0);
  return f;
}

}  // namespace

std::vector<float> ScheduleFeatures(const Scheduled& scheduled, const Machine& machine) {
  const std::vector<Nest>& nests = scheduled.program().nests;
  std::vector<std::vector<float>> rows;
  std::vector<double> work;
  for (size_t i = 0; i < nests.size(); ++i) {
    rows.push_back(NestFeatures(scheduled, i, machine));
    work.push_back(Points(nests[i].loops) * static_cast<double>(1 + nests[i].body.size()));
  }
  const double all = std::accumulate(work.begin(), work.end(), 0.0);
  std::vector<size_t> order(nests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return work[a] > work[b]; });
  std::vector<float> features(kNestFeatures, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t k = 0; k < kNestFeatures; ++k) {
      features[k] += static_cast<float>(work[i] / all) * rows[i][k];
    }
  }
  for (size_t i = 0; i < 2; ++i) {
    if (i < order.size()) {
      features.insert(features.end(), rows[order[i]].begin(), rows[order[i]].end());
    }
  }
  features.resize(3 * kNestFeatures, 0);
  features.push_back(Log2(EstimatedCost(scheduled, machine)));
  return features;
}

}  // namespace hone::loops
