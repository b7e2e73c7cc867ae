// Learning from what others have done well, before learning by acting: behavioural cloning
// (Pomerleau 1991).
#ifndef HONE_LEARN_IMITATION_H_
#define HONE_LEARN_IMITATION_H_

#include <torch/torch.h>

#include <cstdint>
#include <functional>

#include "core/rng.h"
#include "learn/network.h"
#include "learn/parameters.h"
#include "learn/task.h"

namespace hone::learn {

// N states, the action that was taken in each, and what was paid from there on.
struct Demonstrations {
  Observation states;
  torch::Tensor actions;  // [N] int64, allowed by the masks
  torch::Tensor returns;  // [N] float32, discounted

  int64_t size() const { return actions.defined() ? actions.size(0) : 0; }
};

struct ImitationOptions {
  int64_t epochs = 10;
  int64_t batch_size = 256;
  double learning_rate = 1e-3;
  double value_weight = 0.5;  // of the squared error of the value network
  std::function<bool()> stopped;  // asked before every batch: what is fitted by then is kept
};

struct Imitated {
  double policy_loss = 0;  // of the last epoch: mean cross entropy, in nats
  double value_loss = 0;
  double agreement = 0;  // share of states in which the demonstrated action is the likeliest, after
};

// Fits both networks, whose parameters these are; a value network fits the returns.
Imitated Imitate(const Demonstrations& demonstrations, const ImitationOptions& options,
                 Network& policy, Network& value, FlatParameters& parameters, Rng& rng);

}  // namespace hone::learn

#endif  // HONE_LEARN_IMITATION_H_
