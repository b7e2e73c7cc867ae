#include "tune/ranking.h"

#include <algorithm>
#include <cmath>

#include "core/compile_plan.h"

namespace hone::tune {
namespace {

constexpr size_t kTopGraph = 10;
constexpr size_t kTopNode = 5;
constexpr size_t kTopByUnranked = 5;
constexpr double kMostGenerations = 4;
constexpr double kMostOfTime = 0.2;  // that is left, for compiling a generation

}  // namespace

size_t TopOf(int group) {
  return group == static_cast<int>(Stage::kTiles) || group == static_cast<int>(Stage::kLayout)
             ? kTopNode
             : kTopGraph;
}

size_t GenerationSize(size_t top, double prepare_seconds, double race_seconds,
                      double seconds_left) {
  if (prepare_seconds <= 0 || race_seconds <= 0) return 1;
  const double times = std::clamp(race_seconds / prepare_seconds, 1.0, kMostGenerations);
  const double wanted = std::round(times * static_cast<double>(top));
  const double fits = kMostOfTime * seconds_left / prepare_seconds;
  return static_cast<size_t>(std::max(1.0, std::min(wanted, fits)));
}

size_t KeepTop(size_t top, std::vector<Ranked>& generation) {
  const auto estimated =
      std::stable_partition(generation.begin(), generation.end(),
                            [](const Ranked& one) { return !one.prepared.graph.has_value(); });
  const auto kept = static_cast<size_t>(estimated - generation.begin()) + top;
  const auto unranked = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(top / kTopByUnranked),
                                                 generation.end() - estimated);
  std::stable_sort(estimated + unranked, generation.end(),
                   [](const Ranked& a, const Ranked& b) { return a.estimate < b.estimate; });
  if (generation.size() <= kept) return 0;
  const size_t passed_over = generation.size() - kept;
  generation.resize(kept);
  return passed_over;
}

}  // namespace hone::tune
