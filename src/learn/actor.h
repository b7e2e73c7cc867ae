// Steps a task and keeps account of its episodes.
#ifndef HONE_LEARN_ACTOR_H_
#define HONE_LEARN_ACTOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "learn/checkpoint.h"
#include "learn/learner.h"
#include "learn/task.h"

namespace hone::learn {

class Actor {
 public:
  explicit Actor(std::shared_ptr<Task> task) : task_(std::move(task)), shape_(task_->shape()) {}

  // Resets the task, where that was not done yet.
  Status Begin(uint64_t seed);
  bool begun() const { return begun_; }
  const Observation& seen() const { return seen_; }
  const TaskShape& shape() const { return shape_; }
  int64_t steps() const { return steps_; }  // over all environments

  StatusOr<Transition> Step(const torch::Tensor& actions);
  // Adds the means over the episodes that ended since the last call.
  void TakeEpisodes(Report& report);

  // In Guarded. Load leaves the actor as it was if it throws, but not the task.
  void Save(CheckpointWriter& to) const;
  void Load(CheckpointReader& from);

 private:
  std::shared_ptr<Task> task_;
  const TaskShape shape_;
  bool begun_ = false;
  Observation seen_;
  int64_t steps_ = 0;
  std::vector<double> returns_;   // [B] of the episodes under way
  std::vector<int64_t> lengths_;  // [B]
  double ended_return_ = 0;       // sums
  int64_t ended_length_ = 0;
  int64_t ended_ = 0;
};

}  // namespace hone::learn

#endif  // HONE_LEARN_ACTOR_H_
