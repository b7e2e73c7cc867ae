// Joins the steps of each environment to transitions of n steps.
#ifndef HONE_LEARN_N_STEP_H_
#define HONE_LEARN_N_STEP_H_

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "learn/checkpoint.h"
#include "learn/replay.h"
#include "learn/task.h"

namespace hone::learn {

// A transition is from a state to that n steps later, or to the end of the episode where that comes
// first: reward sum of gamma^k r_k, discount gamma^steps, 0 where it terminated (Sutton 1988;
// Hessel et al. 2018, "Rainbow").
class NStep {
 public:
  NStep(const TaskShape& shape, int64_t n, double gamma);

  // Puts into the memory what is complete with a step: `before` and `action` [B], and what came of
  // it.
  void Add(const Observation& before, const torch::Tensor& action, const Transition& transition,
           Replay& replay);

  // In Guarded.
  void Save(CheckpointWriter& to) const;
  void Load(CheckpointReader& from);

 private:
  // The steps under way of environment b are first_[b], … in a ring of n places.
  int64_t Place(int64_t b, int64_t k) const { return b * n_ + (first_[b] + k) % n_; }

  TaskShape shape_;
  int64_t n_;
  double gamma_;
  Observation states_;           // [B * n]
  std::vector<int64_t> action_;  // [B * n]
  std::vector<float> reward_;    // [B * n]
  std::vector<int64_t> first_;   // [B]
  std::vector<int64_t> count_;   // [B], under n between calls
};

}  // namespace hone::learn

#endif  // HONE_LEARN_N_STEP_H_
