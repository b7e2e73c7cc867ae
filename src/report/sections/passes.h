// A sequence of passes, and what each changed.
#ifndef HONE_REPORT_SECTIONS_PASSES_H_
#define HONE_REPORT_SECTIONS_PASSES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/json.h"

namespace hone::report {

struct PassStep {
  std::string pass;
  std::string meaning;
  double value = 0;  // of the objective, after it
  // Instructions it added or took away, by opcode, the most first.
  std::vector<std::pair<std::string, int64_t>> opcodes;
};

struct Passes {
  std::string note;
  std::string value_name;  // "instructions"
  double initial = 0;
  std::vector<PassStep> steps;
};

inline Json ToSection(const Passes& passes) {
  Json steps = Json::array();
  for (const PassStep& step : passes.steps) {
    steps.push_back({{"pass", step.pass},
                     {"meaning", step.meaning},
                     {"value", step.value},
                     {"opcodes", step.opcodes}});
  }
  return {{"kind", "passes"},
          {"note", passes.note},
          {"value_name", passes.value_name},
          {"initial", passes.initial},
          {"steps", std::move(steps)}};
}

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_PASSES_H_
