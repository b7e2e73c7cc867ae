// Estimates of run time, learnt from what a store has measured: `hone costmodel`.
#ifndef HONE_JOBS_COST_MODEL_H_
#define HONE_JOBS_COST_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cost/train_cost_model.h"
#include "jobs/events.h"
#include "jobs/json.h"

namespace hone::jobs {

struct CostModelOptions {
  std::string store;    // measurements of `hone tune --store` on this machine
  std::string model;    // a file
  double held_out = 0;  // share of the programs that are not trained on
  int folds = 5;        // into which programs are divided to judge without a model
  int steps = 2000;
  size_t most_nodes = 3000;  // of a module
  uint64_t seed = 1;
};

struct TrainedCostModel {
  cost::CostModel model;  // with a card: trained_on, examples, seed
  size_t examples = 0;
  size_t programs = 0;
  size_t held_out = 0;  // programs
};
// Writes the model; once interrupted, the model as trained so far. Errors: all programs would be
// held out.
FileOr<TrainedCostModel> TrainCostModel(const CostModelOptions& options, Events& events);
Json ToJson(const TrainedCostModel& trained, const CostModelOptions& options);

// A program with fewer measured plans is not judged.
inline constexpr size_t kFewestPlans = 8;

// How well the model and the roofline order the plans of the same programs.
struct CostModelQuality {
  std::vector<cost::RankQuality> model;
  std::vector<cost::RankQuality> roofline;
};
// Judges the model by the programs that it was not trained on. Without a model: cross-validation,
// each program judged by a model that is trained on the other folds; once interrupted, the folds
// that are done. Errors: no program has kFewestPlans.
FileOr<CostModelQuality> JudgeCostModel(const CostModelOptions& options, Events& events);

// A mean over programs with a 95 % bootstrap interval.
struct MeanOfPrograms {
  double mean = 0, low = 0, high = 0;
};
// The mean of one figure. The figure `right` counts only programs where the measurements decide
// something; 0.5 where there are none.
MeanOfPrograms MeanQuality(const std::vector<cost::RankQuality>& qualities,
                           double cost::RankQuality::* figure);

// The figures that answers and pages show, by name.
inline constexpr std::pair<const char*, double cost::RankQuality::*> kQualityFigures[] = {
    {"spearman", &cost::RankQuality::spearman},
    {"kendall", &cost::RankQuality::kendall},
    {"right", &cost::RankQuality::right},
    {"best_of_5", &cost::RankQuality::best_of_5}};
Json ToJson(const CostModelQuality& quality);

}  // namespace hone::jobs

#endif  // HONE_JOBS_COST_MODEL_H_
