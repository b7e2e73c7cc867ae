// Which decisions mattered: each undone while the others stay.
#ifndef HONE_REPORT_SECTIONS_ABLATION_H_
#define HONE_REPORT_SECTIONS_ABLATION_H_

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/json.h"

namespace hone::report {

struct Undone {
  std::string decision;
  std::string detail;               // where, and instead of what
  double effect = 0;                // of the decision: above `neutral` it is worth something
  std::optional<double> low, high;  // a 95 % interval, where there is one
  std::string text;                 // the effect with its unit
};

struct Ablation {
  std::string note;
  std::string effect_name;  // "instructions saved", "speed-up"
  double neutral = 0;       // the effect of what does nothing
  std::vector<Undone> undone;
};

inline Json ToSection(const Ablation& ablation) {
  Json undone = Json::array();
  for (const Undone& one : ablation.undone) {
    Json row{{"decision", one.decision},
             {"detail", one.detail},
             {"effect", one.effect},
             {"text", one.text}};
    if (one.low && one.high && std::isfinite(*one.low) && std::isfinite(*one.high)) {
      row["interval"] = {*one.low, *one.high};
    }
    undone.push_back(std::move(row));
  }
  return {{"kind", "ablation"},
          {"note", ablation.note},
          {"effect_name", ablation.effect_name},
          {"neutral", ablation.neutral},
          {"undone", std::move(undone)}};
}

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_ABLATION_H_
