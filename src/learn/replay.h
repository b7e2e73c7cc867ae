// The replay buffer of an off-policy learner.
#ifndef HONE_LEARN_REPLAY_H_
#define HONE_LEARN_REPLAY_H_

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/rng.h"
#include "learn/checkpoint.h"
#include "learn/sum_tree.h"
#include "learn/task.h"

namespace hone::learn {

// K remembered transitions, of one step or several.
struct Memories {
  Observation before;      // [K]
  Observation after;       // [K]
  torch::Tensor action;    // [K] int64
  torch::Tensor reward;    // [K] float32, discounted sum
  torch::Tensor discount;  // [K] float32, of the value after; 0 where it terminated
  torch::Tensor weight;    // [K] float32, importance, at most 1
  torch::Tensor index;     // [K] int64, for SetPriorities
};

// A ring of the last `capacity` transitions. Draws are uniform or, where prioritised, in proportion
// to priority^exponent (Schaul et al. 2016, algorithm 1). Value features are not kept.
class Replay {
 public:
  Replay(const TaskShape& shape, int64_t capacity, bool prioritised, double exponent);

  int64_t size() const { return size_; }
  // Rows of two observations. Its priority is the highest so far.
  void Add(const Observation& before, int64_t before_row, int64_t action, double reward,
           double discount, const Observation& after, int64_t after_row);
  // `count` draws, from equal parts of the weights where prioritised; importance weights are
  // (size * probability)^-beta over the largest of the draws'. size() > 0.
  Memories Draw(int64_t count, double beta, Rng& rng) const;
  // |TD error| [K] of what was drawn.
  void SetPriorities(const torch::Tensor& index, const torch::Tensor& error);

  // In Guarded.
  void Save(CheckpointWriter& to) const;
  void Load(CheckpointReader& from);

 private:
  TaskShape shape_;
  int64_t capacity_;
  double exponent_;
  Observation before_, after_;  // [capacity], as the others
  torch::Tensor action_, reward_, discount_;
  int64_t size_ = 0;
  int64_t next_ = 0;  // where the next is put
  std::optional<SumTree> weights_;
  double highest_ = 1;  // weight
};

}  // namespace hone::learn

#endif  // HONE_LEARN_REPLAY_H_
