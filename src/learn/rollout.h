// A rollout, for on-policy learners: some steps of every environment, acted by one policy.
#ifndef HONE_LEARN_ROLLOUT_H_
#define HONE_LEARN_ROLLOUT_H_

#include <torch/torch.h>

#include <cstdint>

#include "core/rng.h"
#include "learn/actor.h"
#include "learn/config.h"
#include "learn/losses.h"
#include "learn/network.h"

namespace hone::learn {

// N = T * B samples; that of step t in environment b is in row t * B + b.
struct Rollout {
  Observation observation;   // [N]
  torch::Tensor action;      // [N] int64
  torch::Tensor log_old;     // [N] float32, log probability of the action
  torch::Tensor value;       // [N] float32, of the value network when it acted
  torch::Tensor advantage;   // [N] float32, not normalised
  torch::Tensor return_sum;  // [N] float32, advantage + value: TD(lambda)
  int64_t steps = 0;         // environment steps of the actor at its end

  int64_t size() const { return action.size(0); }
};

// Acts config.rollout_steps times in every environment of an actor that has begun.
StatusOr<Rollout> Collect(const Config& config, Actor& actor, Network& policy, Network& value,
                          Rng& rng);

struct Batch {
  Observation observation;
  ActorCriticBatch samples;  // the advantage is as in the rollout
};
// The rows that `index` ([K] int64) names.
Batch MakeBatch(const Rollout& rollout, const torch::Tensor& index);
// All of it, without a copy.
Batch WholeBatch(const Rollout& rollout);

// 0 to count - 1 in random order, int64.
torch::Tensor Permutation(int64_t count, Rng& rng);

void WriteRollout(const Rollout& rollout, CheckpointWriter& to);
Rollout ReadRollout(CheckpointReader& from, const TaskShape& shape, int64_t rows);

}  // namespace hone::learn

#endif  // HONE_LEARN_ROLLOUT_H_
