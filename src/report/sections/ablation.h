// Which decisions mattered: each undone while the others stay.
#ifndef HONE_REPORT_SECTIONS_ABLATION_H_
#define HONE_REPORT_SECTIONS_ABLATION_H_

#include <optional>
#include <string>
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

Json ToSection(const Ablation& ablation);

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_ABLATION_H_
