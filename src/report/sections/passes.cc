#include "report/sections/passes.h"

namespace hone::report {

Json ToSection(const Passes& passes) {
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
