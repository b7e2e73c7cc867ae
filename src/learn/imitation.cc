#include "learn/imitation.h"

#include <algorithm>

#include "learn/categorical.h"
#include "learn/observation.h"
#include "learn/rollout.h"

namespace hone::learn {
namespace {

double Agreement(const Demonstrations& demonstrations, int64_t batch_size, Network& policy) {
  const torch::NoGradGuard no_gradients;
  int64_t same = 0;
  for (int64_t at = 0; at < demonstrations.size(); at += batch_size) {
    const int64_t end = std::min(demonstrations.size(), at + batch_size);
    const Observation states = Slice(demonstrations.states, at, end);
    const torch::Tensor chosen = MaskedArgmax(policy.Forward(states), states.mask);
    same += (chosen == demonstrations.actions.slice(0, at, end)).sum().item<int64_t>();
  }
  return static_cast<double>(same) / static_cast<double>(demonstrations.size());
}

}  // namespace

Imitated Imitate(const Demonstrations& demonstrations, const ImitationOptions& options,
                 Network& policy, Network& value, FlatParameters& parameters, Rng& rng) {
  Config config;
  config.learning_rate = options.learning_rate;
  const auto optimizer = MakeOptimizer(config, parameters, 0, parameters.size());
  const int64_t size = demonstrations.size();
  Imitated imitated;
  const auto stopped = [&] { return options.stopped && options.stopped(); };
  for (int64_t epoch = 0; epoch < options.epochs && !stopped(); ++epoch) {
    const torch::Tensor order = Permutation(size, rng);
    imitated = {};
    for (int64_t at = 0; at < size && !stopped(); at += options.batch_size) {
      const torch::Tensor index = order.slice(0, at, std::min(size, at + options.batch_size));
      const Observation states = Select(demonstrations.states, index);
      const torch::Tensor log = MaskedLogSoftmax(policy.Forward(states), states.mask);
      const torch::Tensor policy_loss =
          -LogProbability(log, demonstrations.actions.index_select(0, index)).mean();
      const torch::Tensor value_loss =
          (value.Forward(states).squeeze(1) - demonstrations.returns.index_select(0, index))
              .square()
              .mean();
      parameters.ClearGradients();
      (policy_loss + options.value_weight * value_loss).backward();
      parameters.ClipGradients(config.max_gradient_norm);
      optimizer->step();
      const double share = static_cast<double>(index.size(0)) / static_cast<double>(size);
      imitated.policy_loss += share * policy_loss.item<double>();
      imitated.value_loss += share * value_loss.item<double>();
    }
  }
  imitated.agreement = Agreement(demonstrations, options.batch_size, policy);
  return imitated;
}

}  // namespace hone::learn
