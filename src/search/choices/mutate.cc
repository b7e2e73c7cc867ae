#include "search/choices/mutate.h"

#include <algorithm>
#include <cmath>

namespace hone::choices {
namespace {

constexpr double kBackToStock = 0.3;  // what is changed and does not help should go

// Another choice than the present one.
uint32_t OtherChoice(const Variable& variable, uint32_t present, Rng& rng) {
  if (present != variable.stock && rng.Unit() < kBackToStock) return variable.stock;
  const uint32_t choice = static_cast<uint32_t>(rng.Below(variable.choices - 1));
  return choice + (choice >= present ? 1 : 0);
}

// By the root of the weight: what matters more is changed more often, the rest not never.
size_t PickVariable(const std::vector<Variable>& variables, const std::vector<size_t>& among,
                    Rng& rng) {
  std::vector<double> weights;
  for (size_t i : among) weights.push_back(std::sqrt(std::max(variables[i].weight, 1e-9)));
  return among[rng.Weighted(weights)];
}

}  // namespace

std::vector<size_t> VariablesOf(const std::vector<Variable>& variables, int group) {
  std::vector<size_t> found;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (group == kEveryGroup || variables[i].group == group) found.push_back(i);
  }
  return found.empty() && group != kEveryGroup ? VariablesOf(variables, kEveryGroup) : found;
}

void Mutate(const std::vector<Variable>& variables, int group, Mutation mutation, Rng& rng,
            Assignment& assignment) {
  const std::vector<size_t> among = VariablesOf(variables, group);
  if (among.empty()) return;
  const size_t first = PickVariable(variables, among, rng);
  const uint32_t choice = OtherChoice(variables[first], assignment[first], rng);
  assignment[first] = choice;
  if (mutation == Mutation::kFamily) {
    for (size_t i : among) {
      const bool alike = variables[i].family == variables[first].family;
      if (alike && choice < variables[i].choices) assignment[i] = choice;
    }
  } else if (mutation == Mutation::kMulti) {
    for (size_t more = 1 + rng.Below(7); more > 0; --more) {
      const size_t i = PickVariable(variables, among, rng);
      if (i != first) assignment[i] = OtherChoice(variables[i], assignment[i], rng);
    }
  }
}

void Leap(const std::vector<Variable>& variables, int group, Rng& rng, Assignment& assignment) {
  const std::vector<size_t> among = VariablesOf(variables, group);
  if (among.empty()) return;
  const double most = std::log(static_cast<double>(among.size()) + 1);
  const size_t changes = std::clamp<size_t>(static_cast<size_t>(std::exp(rng.Unit() * most)),
                                            size_t{1}, among.size());
  for (size_t i = 0; i < changes; ++i) {
    const size_t at = among[rng.Below(among.size())];
    assignment[at] = static_cast<uint32_t>(rng.Below(variables[at].choices));
  }
}

void MutateSomehow(const std::vector<Variable>& variables, int group, Rng& rng,
                   Assignment& assignment) {
  const double kind = rng.Unit();
  Mutate(variables, group,
         kind < 0.5    ? Mutation::kSingle
         : kind < 0.85 ? Mutation::kMulti
                       : Mutation::kFamily,
         rng, assignment);
}

}  // namespace hone::choices
