// What a schedule might cost, learnt from schedules that were timed on one kind of processor:
// boosted trees over what schedule_features.h shows, of a schedule and beside its task's default
// one. It orders the schedules of a task; across tasks its figures say nothing.
#ifndef HONE_LOOPS_COST_MODEL_H_
#define HONE_LOOPS_COST_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "loops/schedule_features.h"
#include "search/choices/boosted_trees.h"

namespace hone::loops {

struct LoopsCostModel {
  // A column of the trees: whether a number is above a threshold.
  struct Above {
    uint32_t number = 0;
    float threshold = 0;
  };
  std::vector<Above> columns;  // by number, then threshold
  choices::BoostedTrees trees;
  std::map<std::string, std::string> card;  // what it was trained on, for people

  // Lower is better; both of ScheduleFeatures.
  double Predict(const std::vector<float>& schedule, const std::vector<float>& by_default) const;
};

// A schedule that was timed.
struct TimedSchedule {
  size_t task = 0;  // those of a task have the same number
  std::vector<float> features, by_default;
  double value = 0;  // logarithm of its time, by the default's or any other of its task
};

struct LoopsCostOptions {
  uint64_t seed = 1;
  size_t thresholds = 12;  // a number, where its values differ as often
  choices::BoostingOptions boosting = {150, 0.06, {6, 5, 0.3}};
};

// There is at least one. What is learnt is how a schedule differs from its task's mean; the same
// examples and options make the same model.
LoopsCostModel TrainLoopsCostModel(const std::vector<TimedSchedule>& timed,
                                   const LoopsCostOptions& options);

// A safetensors file (policy/policy_file.h) of its own format.
std::string WriteLoopsCostModel(const LoopsCostModel& model);
// The error says what is wrong with the bytes.
StatusOr<std::shared_ptr<const LoopsCostModel>> ReadLoopsCostModel(std::string_view bytes);

}  // namespace hone::loops

#endif  // HONE_LOOPS_COST_MODEL_H_
