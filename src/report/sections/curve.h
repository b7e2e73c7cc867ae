// The best so far against evaluations.
#ifndef HONE_REPORT_SECTIONS_CURVE_H_
#define HONE_REPORT_SECTIONS_CURVE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/evaluation.h"
#include "report/json.h"

namespace hone::report {

struct Level {
  std::string label;
  double value = 0;
};

struct Curve {
  std::string note;
  std::string value_name;        // "instructions", "speed-up"
  std::string evaluations_name;  // "steps evaluated", "plans evaluated"
  bool lower_is_better = true;
  double start = 0;                // the value before the first evaluation
  std::vector<CurvePoint> points;  // each better than the one before
  int64_t evaluated = 0;           // at the end
  double seconds = 0;
  std::vector<Level> levels;  // lines to compare with
};

inline Json ToSection(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points) {
    points.push_back({point.evaluated, point.seconds, point.value});
  }
  Json levels = Json::array();
  for (const Level& level : curve.levels) {
    levels.push_back({{"label", level.label}, {"value", level.value}});
  }
  return {{"kind", "curve"},
          {"note", curve.note},
          {"value_name", curve.value_name},
          {"evaluations_name", curve.evaluations_name},
          {"lower_is_better", curve.lower_is_better},
          {"start", curve.start},
          {"points", std::move(points)},
          {"evaluated", curve.evaluated},
          {"seconds", curve.seconds},
          {"levels", std::move(levels)}};
}

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_CURVE_H_
