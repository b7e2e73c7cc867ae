#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loops/sort.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostBits = 12;
constexpr int64_t kMostLanes = 16;
constexpr int64_t kManyElements = 1 << 14;  // of a row, from which on wider digits pay

std::string WhyNot(const Schedule&, const Nest& nest, const SiteState& state, const Step& step) {
  const std::string neither = WhyNeitherSharedNorTiled("sorts", state, step);
  if (!neither.empty()) return neither;
  const bool parallel = step.kind == StepKind::kParallel;
  const int64_t rows = step.numbers[0], along = step.numbers[1];
  if (parallel && along > 0) return "processors cannot share what is sorted";
  if (parallel && rows > nest.loops[0].extent) {
    return fmt::format("loop 0 has only {} iterations", nest.loops[0].extent);
  }
  if (!parallel && along == 1) {
    if (nest.loops[1].extent > kMostCompared) {
      return fmt::format("rows of at most {} are sorted by comparisons", kMostCompared);
    }
    if (rows < 1 || rows > kMostLanes || (rows & (rows - 1)) != 0 || rows > nest.loops[0].extent) {
      return fmt::format("1, 2, 4, 8 or {} rows are sorted at a time, of those that there are",
                         kMostLanes);
    }
    return "";
  }
  if (!parallel && rows > 0) return "loop 0 stays whole, but for comparisons";
  if (!parallel && (along < 2 || along > kMostBits)) {
    return fmt::format("a digit has 2 to {} bits; 1 stands for comparisons", kMostBits);
  }
  return "";
}

int64_t KeyBits(const Nest& nest) {
  return 8 * static_cast<int64_t>(InfoOf(WideOf(nest.reads[0].element)).bytes);
}

Schedule ByThumb(const Nest& nest, const Machine& machine) {
  const int64_t rows = nest.loops[0].extent, size = nest.loops[1].extent;
  const int64_t wanted = machine.Parts(rows * size / kLeastShared, 4);
  int64_t parallel = wanted > 1 && rows > 1 ? (rows + wanted - 1) / wanted : 0;
  const int64_t bytes = nest.positions ? 8 : KeyBits(nest) / 8;
  const int64_t lanes = std::min(machine.vector_bytes / bytes, kMostLanes);
  if (size <= kMostCompared && lanes <= rows) {
    parallel = std::min((parallel + lanes - 1) / lanes * lanes, rows);
    return {{nest.site, StepKind::kParallel, {parallel, 0}, ""},
            {nest.site, StepKind::kTile, {lanes, 1}, ""}};
  }
  return {{nest.site, StepKind::kParallel, {parallel, 0}, ""},
          {nest.site, StepKind::kTile, {0, size < kManyElements ? 8 : 11}, ""}};
}

double Cost(const Schedule& schedule, const Nest& nest, const Machine&) {
  const auto [parallel, bits, lanes] = SortSizesOf(schedule, nest);
  const auto digits = static_cast<double>((KeyBits(nest) + bits - 1) / bits);
  const auto rows = static_cast<double>(nest.loops[0].extent);
  const auto size = static_cast<double>(nest.loops[1].extent);
  constexpr double kStep = 4;  // count, or move, an element
  if (lanes > 0) {
    const double levels = std::ceil(std::log2(size));
    return rows * (size * levels * levels / static_cast<double>(lanes) + kStep * size);
  }
  return rows * digits * (2 * kStep * size + 2 * static_cast<double>(int64_t{1} << bits));
}

}  // namespace

SortSizes SortSizesOf(const Schedule& schedule, const Nest& nest) {
  SortSizes sizes;
  for (const Step& step : schedule) {
    if (step.site != nest.site) continue;
    if (step.kind == StepKind::kParallel) sizes.parallel = step.numbers[0];
    if (step.kind != StepKind::kTile) continue;
    if (step.numbers[1] == 1) {
      sizes.lanes = step.numbers[0];
    } else {
      sizes.bits = step.numbers[1];
    }
  }
  return sizes;
}

const OwnText kSorting = {WhyNot, ByThumb, Cost, SortText};

}  // namespace hone::loops
