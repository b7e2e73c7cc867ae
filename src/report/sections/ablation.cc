#include "report/sections/ablation.h"

#include <cmath>

namespace hone::report {

Json ToSection(const Ablation& ablation) {
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
