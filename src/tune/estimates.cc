#include "tune/estimates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/median.h"
#include "cost/roofline.h"

namespace hone::tune {
namespace {

constexpr double kUnknown = 0.3;     // where there are too few pairs for an interval
constexpr double kIntervals = 3.92;  // standard deviations in a 95 % interval

double DoubtOf(const store::Measurement& one) {
  return one.low > 0 && one.high >= one.low ? std::log(one.high / one.low) / kIntervals : kUnknown;
}

}  // namespace

CostEstimate RooflineEstimate(const cost::Machine& machine) {
  return [machine](const cost::CostGraph& module, const std::vector<NamedChoice>&) {
    return std::log(std::max(cost::RooflineOf(module, machine).seconds, 1e-12));
  };
}

CostEstimate ModelEstimate(cost::CostModel model) {
  return [model = std::move(model)](const cost::CostGraph& module,
                                    const std::vector<NamedChoice>& choices) {
    std::vector<cost::PlanChoice> plan;
    for (const NamedChoice& choice : choices) {
      plan.push_back({std::string(StageName(choice.stage)), choice.name, choice.value});
    }
    return model.Estimate(module, plan);
  };
}

std::vector<cost::Example> ExamplesOf(const std::vector<store::MeasuredModule>& measured,
                                      size_t most_nodes) {
  std::map<std::string, std::vector<double>> stock_seconds;  // by program
  std::map<std::pair<std::string, std::string>, const store::MeasuredModule*> best;
  for (const store::MeasuredModule& one : measured) {
    const store::Measurement& race = one.measurement;
    if (!(race.stock_seconds > 0 && race.speedup > 0)) continue;
    stock_seconds[race.program].push_back(race.stock_seconds);
    const store::MeasuredModule*& known = best[{race.program, race.executable}];
    if (known == nullptr || known->measurement.pairs < race.pairs) known = &one;
  }
  std::map<std::string, std::shared_ptr<const cost::CostGraph>>
      graphs;  // by module; null: left out
  std::vector<cost::Example> examples;
  for (const auto& [key, one] : best) {
    const store::Measurement& race = one->measurement;
    const auto [place, added] = graphs.try_emplace(race.module, nullptr);
    if (added) {
      StatusOr<cost::CostGraph> graph = cost::CostGraphFromText(one->graph);
      if (graph && graph->nodes.size() <= most_nodes) {
        place->second = std::make_shared<const cost::CostGraph>(*std::move(graph));
      }
    }
    if (place->second == nullptr) continue;
    cost::Example example;
    example.program = race.program;
    example.graph = place->second;
    for (const store::ChoiceRow& choice : one->choices) {
      example.choices.push_back({choice.stage, choice.key, choice.value});
    }
    example.value = std::log(Median(stock_seconds[race.program])) - std::log(race.speedup);
    example.doubt = DoubtOf(race);
    examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace hone::tune
