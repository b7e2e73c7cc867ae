#include "report/sections/curve.h"

namespace hone::report {

Json ToSection(const Curve& curve) {
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
