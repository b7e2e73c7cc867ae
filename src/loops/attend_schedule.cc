#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loops/attend.h"

namespace hone::loops {
namespace {

// A block's weights stay in the nearest cache.
constexpr int64_t kMostBlock = 16384;
constexpr int64_t kMostQueries = 64;

std::string WhyNot(const Schedule&, const Nest& nest, const SiteState& state, const Step& step) {
  const size_t rank = nest.loops.size() - 2;
  const bool parallel = step.kind == StepKind::kParallel;
  if (step.kind == StepKind::kUnroll) return state.unrolled ? "it is unrolled already" : "";
  if (!parallel && step.kind != StepKind::kTile) {
    return "of what attends there is parallel, tile and unroll to decide";
  }
  if (!parallel && state.tiles > 0) return "it is tiled already";
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const int64_t size = step.numbers[i];
    if (size == 0) continue;
    const bool may = parallel ? i + 1 < rank : i + 2 == rank || i == rank;
    if (!may) {
      return parallel ? fmt::format("processors cannot share loop {}", i)
                      : fmt::format("loop {} stays whole", i);
    }
    if ((parallel || i == rank) && size > nest.loops[i].extent) {
      return fmt::format("loop {} has only {} iterations", i, nest.loops[i].extent);
    }
    if (!parallel && i + 2 == rank && (size > kMostQueries || (size & (size - 1)) != 0)) {
      return "so many queries at once are a power of two, 64 at most";
    }
  }
  if (!parallel) {
    const int64_t queries = step.numbers[rank - 2] == 0 ? 16 : step.numbers[rank - 2];
    if (queries * step.numbers[rank] > kMostBlock) {
      return fmt::format("a block has more than {} weights", kMostBlock);
    }
  }
  return "";
}

double Cost(const AttendSizes& sizes, const Nest& nest, const Machine& machine);

// One vector of queries or two, whole blocks of keys or halves: what fills blocks best. Where a
// query sees no keys behind it, large blocks are half beyond what it sees.
AttendSizes BlocksByThumb(const Nest& nest, const Machine& machine) {
  constexpr int64_t kKeys = 64;
  const size_t rank = nest.loops.size() - 2;
  const auto lanes = machine.Lanes(nest.element);
  AttendSizes best;
  double least = 0;
  for (const int64_t queries : {2 * lanes, lanes}) {
    if (queries > lanes && nest.loops[rank - 2].extent <= lanes) continue;
    for (const int64_t keys : {kKeys, kKeys / 2}) {
      AttendSizes sizes;
      sizes.queries = queries;
      sizes.keys = std::min(nest.loops[rank].extent, keys);
      sizes.registers = machine.vector_registers >= 32 ? 8 : 4;
      const double cost = Cost(sizes, nest, machine);
      if (least != 0 && cost >= least) continue;
      least = cost;
      best = sizes;
    }
  }
  return best;
}

// Keys as registers allow: with two vectors of queries, loads of keys' elements are then half of
// what the processor can do beside its multiplications.
Schedule ByThumb(const Nest& nest, const Machine& machine) {
  const size_t rank = nest.loops.size() - 2;
  const auto extent = [&](size_t loop) { return nest.loops[loop].extent; };
  const AttendSizes blocks = BlocksByThumb(nest, machine);
  const int64_t queries = blocks.queries;
  double work = static_cast<double>(extent(rank) * (extent(rank - 1) + extent(rank + 1)));
  for (size_t i = 0; i + 1 < rank; ++i) work *= static_cast<double>(extent(i));
  int64_t wanted = machine.Parts(static_cast<int64_t>(work / kLeastSharedOfContractions), 8);
  std::vector<int64_t> parallel(nest.loops.size(), 0), tile(nest.loops.size(), 0);
  for (size_t i = 0; i + 2 < rank && wanted > 1; ++i) {
    if (extent(i) == 1) continue;
    parallel[i] = 1;
    wanted = (wanted + extent(i) - 1) / extent(i);
  }
  if (wanted > 1 && extent(rank - 2) > queries) {
    const int64_t parts = std::min(wanted, (extent(rank - 2) + queries - 1) / queries);
    const int64_t each = (extent(rank - 2) + parts - 1) / parts;
    parallel[rank - 2] = (each + queries - 1) / queries * queries;
  }
  tile[rank - 2] = queries;
  tile[rank] = blocks.keys;
  return {{nest.site, StepKind::kParallel, parallel, ""},
          {nest.site, StepKind::kTile, tile, ""},
          {nest.site, StepKind::kUnroll, {blocks.registers}, ""}};
}

// How many scores are computed for a leading index: blocks that are full or not, of keys up to the
// last that one of the queries sees.
double ScoresOf(const AttendSizes& sizes, const Nest& nest) {
  const size_t rank = nest.loops.size() - 2;
  const int64_t queries = nest.loops[rank - 2].extent, keys = nest.loops[rank].extent;
  double scores = 0;
  for (int64_t first = 0; first < queries; first += sizes.queries) {
    const int64_t behind = std::min(first + sizes.queries, queries) + nest.until;
    const int64_t seen = nest.until < 0 ? keys : std::min(keys, behind);
    const int64_t whole = (seen + sizes.keys - 1) / sizes.keys * sizes.keys;
    scores += static_cast<double>(sizes.queries * std::min(keys, whole));
  }
  return scores;
}

// Scores, exponentials and what they weigh, in vectors.
double Cost(const AttendSizes& sizes, const Nest& nest, const Machine& machine) {
  const size_t rank = nest.loops.size() - 2;
  double scores = ScoresOf(sizes, nest);
  for (size_t l = 0; l + 2 < rank; ++l) scores *= static_cast<double>(nest.loops[l].extent);
  const double inner =
      static_cast<double>(nest.loops[rank - 1].extent + nest.loops[rank + 1].extent);
  const auto lanes = static_cast<double>(machine.Lanes(nest.element));
  const double vectors = std::ceil(static_cast<double>(sizes.queries) / lanes);
  const double registers = vectors * static_cast<double>(sizes.registers);
  double multiply = (vectors + static_cast<double>(sizes.registers)) / (2 * registers) + 0.5;
  if (registers + vectors + 1 > machine.vector_registers) multiply *= 2;  // it spills
  const double shrinking = inner / static_cast<double>(sizes.keys);
  const double each = (inner * multiply + shrinking + 20 + static_cast<double>(nest.body.size())) *
                      vectors / static_cast<double>(sizes.queries);
  return scores * each;
}

double CostOf(const Schedule& schedule, const Nest& nest, const Machine& machine) {
  return Cost(AttendSizesOf(schedule, nest), nest, machine);
}

}  // namespace

AttendSizes AttendSizesOf(const Schedule& schedule, const Nest& nest) {
  AttendSizes sizes;
  const size_t rank = nest.loops.size() - 2;
  sizes.parallel.assign(nest.loops.size(), 0);
  for (const Step& step : schedule) {
    if (step.site != nest.site) continue;
    if (step.kind == StepKind::kParallel) sizes.parallel = step.numbers;
    if (step.kind == StepKind::kUnroll) sizes.registers = step.numbers[0];
    if (step.kind != StepKind::kTile) continue;
    if (step.numbers[rank - 2] != 0) sizes.queries = step.numbers[rank - 2];
    if (step.numbers[rank] != 0) sizes.keys = step.numbers[rank];
  }
  return sizes;
}

const OwnText kAttending = {WhyNot, ByThumb, CostOf, AttendText};

}  // namespace hone::loops
