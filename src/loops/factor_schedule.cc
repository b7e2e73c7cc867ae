#include <fmt/format.h>

#include <algorithm>

#include "loops/factor.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostLanes = 64;

std::string WhyNot(const Schedule&, const Nest& nest, const SiteState& state, const Step& step) {
  const std::string neither = WhyNeitherSharedNorTiled("factors", state, step);
  if (!neither.empty()) return neither;
  const bool parallel = step.kind == StepKind::kParallel;
  for (size_t i = 1; i < nest.loops.size(); ++i) {
    if (step.numbers[i] > 0) return fmt::format("loop {} stays whole", i);
  }
  const int64_t matrices = step.numbers[0];
  if (matrices > nest.loops[0].extent) {
    return fmt::format("loop 0 has only {} iterations", nest.loops[0].extent);
  }
  if (!parallel && (matrices > kMostLanes || (matrices & (matrices - 1)) != 0)) {
    return "so many matrices side by side are a power of two, 64 at most";
  }
  return "";
}

// Multiplications of one matrix.
double Products(const Nest& nest) {
  const auto rows = static_cast<double>(nest.loops[3].extent);
  switch (nest.factors) {
    case Factors::kLu:
      return rows * rows * rows * (1. / 3 + 1. / 2);  // exchanges as well
    case Factors::kCholesky:
      return rows * rows * rows / 6;
    case Factors::kExchanges:
      return rows * rows;
    case Factors::kSolve:
      break;
  }
  return rows * rows / 2 * static_cast<double>(nest.loops[2].extent);
}

// Elements that are read and written, one by one.
double Moved(const Nest& nest) {
  const auto rows = static_cast<double>(nest.loops[1].extent);
  return rows * static_cast<double>(nest.loops[2].extent + nest.loops[3].extent);
}

Schedule ByThumb(const Nest& nest, const Machine& machine) {
  const int64_t matrices = nest.loops[0].extent;
  int64_t lanes = machine.Lanes(nest.element);
  while (lanes > matrices) lanes /= 2;
  const auto points = static_cast<double>(matrices) * (Products(nest) + Moved(nest));
  const int64_t wanted = machine.Parts(static_cast<int64_t>(points) / kLeastShared, 4);
  const int64_t each = wanted > 1 ? (matrices + wanted - 1) / wanted : 0;
  const int64_t parallel = std::min((each + lanes - 1) / lanes * lanes, matrices);
  Schedule schedule;
  if (parallel > 0) {
    schedule.push_back({nest.site, StepKind::kParallel, {parallel, 0, 0, 0}, ""});
  }
  schedule.push_back({nest.site, StepKind::kTile, {lanes, 0, 0, 0}, ""});
  return schedule;
}

double Cost(const Schedule& schedule, const Nest& nest, const Machine& machine) {
  const auto lanes = static_cast<double>(FactorSizesOf(schedule, nest).lanes);
  const double wide = std::max(1.0, lanes / static_cast<double>(machine.Lanes(nest.element)));
  constexpr double kStep = 2;  // load, multiply, subtract and store
  return static_cast<double>(nest.loops[0].extent) *
         (Products(nest) * kStep * wide / lanes + Moved(nest));
}

}  // namespace

FactorSizes FactorSizesOf(const Schedule& schedule, const Nest& nest) {
  FactorSizes sizes;
  for (const Step& step : schedule) {
    if (step.site != nest.site) continue;
    if (step.kind == StepKind::kParallel) sizes.parallel = step.numbers[0];
    if (step.kind == StepKind::kTile) sizes.lanes = step.numbers[0];
  }
  return sizes;
}

const OwnText kFactoring = {WhyNot, ByThumb, Cost, FactorText};

}  // namespace hone::loops
