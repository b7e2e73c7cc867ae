#include "report/sections/methods.h"

#include <algorithm>
#include <utility>

namespace hone::report {
namespace {

constexpr int kPointsOfCurve = 60;

// The geometric mean of the ratio after so many steps, over all rows.
Json MeanCurve(const std::vector<Evaluation>& rows) {
  int64_t most = 0;
  for (const Evaluation& row : rows) most = std::max(most, row.evaluated);
  Json points = Json::array();
  for (int i = 0; i <= kPointsOfCurve && most > 0; ++i) {
    const int64_t steps = most * i / kPointsOfCurve;
    std::vector<Sample> samples;
    for (const Evaluation& row : rows) {
      const auto ratio = row.RatioOf(row.ValueAt(steps));
      if (ratio) samples.push_back({row.program, std::max(*ratio, kLeastRatio)});
    }
    if (samples.empty()) break;
    const Mean mean = GeometricMean(samples, 200);
    points.push_back({steps, mean.mean, mean.low, mean.high});
  }
  return points;
}

}  // namespace

Json ToSection(const Methods& methods) {
  Json rows = Json::array();
  for (const Evaluation& row : methods.rows) {
    const auto ratio = row.Ratio();
    rows.push_back({{"method", row.method},
                    {"program", row.program},
                    {"seed", row.seed},
                    {"initial", row.initial},
                    {"default", row.by_default},
                    {"value", row.value},
                    {"ratio", ratio ? Json(*ratio) : Json()},
                    {"evaluated", row.evaluated},
                    {"seconds", row.seconds},
                    {"verified", row.verified}});
  }
  return {{"kind", "methods"},
          {"note", methods.note},
          {"objective", methods.rows.empty() ? "" : methods.rows.front().objective},
          {"rows", std::move(rows)},
          {"curve", MeanCurve(methods.rows)}};
}

}  // namespace hone::report
