// The algorithms' losses, as functions of tensors. B samples, A actions.
#ifndef HONE_LEARN_LOSSES_H_
#define HONE_LEARN_LOSSES_H_

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "learn/config.h"

namespace hone::learn {

// To mean 0 and standard deviation 1; one alone stays as it is.
torch::Tensor Normalized(const torch::Tensor& advantage);

struct ActorCriticBatch {
  torch::Tensor mask;        // [B, A] bool
  torch::Tensor action;      // [B] int64
  torch::Tensor log_old;     // [B] log probability of the action when it was taken
  torch::Tensor advantage;   // [B], normalised where that is wanted
  torch::Tensor return_sum;  // [B] what the value is fitted to
};

struct ActorCriticLoss {
  torch::Tensor total;  // scalars
  torch::Tensor policy;
  torch::Tensor value;
  torch::Tensor entropy;    // mean, in nats
  torch::Tensor log_ratio;  // [B] log of new over old probability, without gradient
};

// Clipped surrogate objective (Schulman et al. 2017, "Proximal Policy Optimization Algorithms",
// equations 7 and 9). logits [B, A], values [B].
ActorCriticLoss PpoLoss(const torch::Tensor& logits, const torch::Tensor& values,
                        const ActorCriticBatch& batch, const Config& config);

// Advantage actor-critic (Mnih et al. 2016, algorithm S3, synchronous).
ActorCriticLoss A2cLoss(const torch::Tensor& logits, const torch::Tensor& values,
                        const ActorCriticBatch& batch, const Config& config);

// Mean of ratio times advantage, to be maximised (Schulman et al. 2015, "Trust Region Policy
// Optimization", equation 14).
torch::Tensor TrpoObjective(const torch::Tensor& logits, const ActorCriticBatch& batch);
// Mean KL(new || old); `log_old` [B, A] are log probabilities, without gradient.
torch::Tensor MeanKl(const torch::Tensor& logits, const torch::Tensor& mask,
                     const torch::Tensor& log_old);

// H v + damping v, where H is the Hessian of what `gradient` ([N], made with create_graph) is the
// gradient of, by the parameters (Pearlmutter 1994).
torch::Tensor HessianVectorProduct(const torch::Tensor& gradient,
                                   const std::vector<torch::Tensor>& parameters,
                                   const torch::Tensor& vector, double damping);
// d(scalar)/d(parameters) as one vector [N].
torch::Tensor FlatGradient(const torch::Tensor& scalar,
                           const std::vector<torch::Tensor>& parameters, bool create_graph);

// x with multiply(x) = b, about: conjugate gradients from x = 0.
torch::Tensor ConjugateGradient(const std::function<torch::Tensor(const torch::Tensor&)>& multiply,
                                const torch::Tensor& b, int64_t steps);

// reward + discount * value of the next state: [B]. next_online and next_target: [B, A] action
// values; next_online only where `double_q` (van Hasselt et al. 2016). discount [B] is 0 where it
// terminated.
torch::Tensor DqnTargets(const torch::Tensor& next_online, const torch::Tensor& next_target,
                         const torch::Tensor& next_mask, const torch::Tensor& reward,
                         const torch::Tensor& discount, bool double_q);
// Mean of weight times Huber's loss of the actions' values: q [B, A], others [B].
torch::Tensor DqnLoss(const torch::Tensor& q, const torch::Tensor& action,
                      const torch::Tensor& target, const torch::Tensor& weight);
// Q = V + A - mean A over actions, from [B, A + 1], V last (Wang et al. 2016, equation 9).
torch::Tensor Duel(const torch::Tensor& outputs);

}  // namespace hone::learn

#endif  // HONE_LEARN_LOSSES_H_
