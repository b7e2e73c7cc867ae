// Training a cost model on measurements.
#ifndef HONE_COST_TRAIN_COST_MODEL_H_
#define HONE_COST_TRAIN_COST_MODEL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cost/cost_model.h"

namespace hone::cost {

// An optimised module and how long it took.
struct Example {
  std::string program;
  std::shared_ptr<const CostGraph> graph;
  std::vector<PlanChoice> choices;
  double value = 0;  // the logarithm of the seconds of a run
  double doubt = 0;  // the value's standard deviation
};

struct TrainOptions {
  uint64_t seed = 1;
  int steps = 2000;
  int batch = 16;           // examples of a step, of one program
  double rate = 2e-3;       // falls to a twentieth, along a cosine
  double absolute = 0.05;   // how much the program's mean counts beside the order of its plans
  double validation = 0.35;  // share of the programs that are only looked at, to know when to stop
  double decay = 0.02;      // of parameters, a step, by the rate
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(int step, double loss)> progress;  // the loss is a running mean
};

// Each step takes one program's examples, and brings the differences between their estimates nearer
// to those between their values, the more the less these are in doubt; Adam (Kingma, Ba: "Adam: A
// Method for Stochastic Optimization", ICLR 2015). Every so many steps the programs for validation
// are looked at; the model is the one that orders most pairs of their plans rightly, with all, a
// half or a quarter of the correction that it has learnt, which may be the roofline itself.
// Programs with one example teach their mean only. Once interrupted, what is had so far. The same
// examples and options make the same model. Needs one example at least.
CostModel TrainCostModel(const std::vector<Example>& examples, const Machine& machine,
                         const TrainOptions& options);

// Whether a program is kept from training, by its name and the seed.
bool IsHeldOut(const std::string& program, double share, uint64_t seed);

// How well estimates order the plans of a program.
struct RankQuality {
  std::string program;
  size_t plans = 0;
  double spread = 0;  // standard deviation of the values: what there is to be ordered
  double spearman = 0;
  double kendall = 0;
  // Pairs of plans whose values differ by more than twice their doubt, and the share of them whose
  // estimates are in the same order; half of those whose estimates are equal.
  size_t decided = 0;
  double right = 0;
  double best_of_5 = 1;  // the best of the five plans with the least estimates, by the best of all
};

// Of the programs with at least `least` examples, in the order of their first.
std::vector<RankQuality> RankQualities(const std::vector<Example>& examples,
                                       const std::vector<double>& estimates, size_t least);

}  // namespace hone::cost

#endif  // HONE_COST_TRAIN_COST_MODEL_H_
