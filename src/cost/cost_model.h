// A trained estimate of run time, and its file.
#ifndef HONE_COST_COST_MODEL_H_
#define HONE_COST_COST_MODEL_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "cost/cost_graph.h"
#include "cost/machine.h"
#include "cost/network_shape.h"

namespace hone::cost {

struct NetworkInput;  // cost_network.h

// What a plan decides otherwise than the stock compiler: a stage's name, a site's key or a flag's
// name, and how.
struct PlanChoice {
  std::string stage, name, value;
};

// What the optimised module may not show of its plan. How often each way to decide occurs, in
// kPlanFeatures places by a hash of its name: of flags and passes which, of sites the stage and the
// value.
std::vector<double> PlanFeatures(const std::vector<PlanChoice>& choices);

struct CostModel {
  std::vector<std::string> opcodes, types;  // what the embeddings' rows are for, from the second on
  Machine machine;                          // whose roofline is corrected
  NetworkShape shape;
  std::vector<double> parameters;
  std::map<std::string, std::string> card;  // what it was trained on, for people

  NetworkInput InputOf(const CostGraph& graph, const std::vector<PlanChoice>& choices) const;
  // The logarithm of the seconds of a run.
  double Estimate(const CostGraph& graph, const std::vector<PlanChoice>& choices) const;
};

// A safetensors file (policy/policy_file.h) of its own format.
std::string WriteCostModel(const CostModel& model);
// The error says what is wrong with the bytes.
StatusOr<CostModel> ReadCostModel(std::string_view bytes);

}  // namespace hone::cost

#endif  // HONE_COST_COST_MODEL_H_
