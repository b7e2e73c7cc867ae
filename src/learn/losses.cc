#include "learn/losses.h"

#include "learn/categorical.h"

namespace hone::learn {

torch::Tensor Normalized(const torch::Tensor& advantage) {
  if (advantage.size(0) < 2) return advantage;
  return (advantage - advantage.mean()) / (advantage.std() + 1e-8);
}

namespace {

ActorCriticLoss Sum(const torch::Tensor& policy, const torch::Tensor& values,
                    const torch::Tensor& entropy, const ActorCriticBatch& batch,
                    const Config& config) {
  ActorCriticLoss loss;
  loss.policy = policy;
  loss.value = torch::mse_loss(values, batch.return_sum);
  loss.entropy = entropy;
  loss.total = policy + config.value_weight * loss.value;
  if (config.entropy_weight != 0) loss.total = loss.total - config.entropy_weight * entropy;
  return loss;
}

}  // namespace

ActorCriticLoss PpoLoss(const torch::Tensor& logits, const torch::Tensor& values,
                        const ActorCriticBatch& batch, const Config& config) {
  const torch::Tensor log_all = MaskedLogSoftmax(logits, batch.mask);
  const torch::Tensor log_ratio = LogProbability(log_all, batch.action) - batch.log_old;
  const torch::Tensor ratio = log_ratio.exp();
  const torch::Tensor clipped = ratio.clamp(1 - config.clip_range, 1 + config.clip_range);
  const torch::Tensor policy =
      -torch::min(batch.advantage * ratio, batch.advantage * clipped).mean();
  ActorCriticLoss loss = Sum(policy, values, Entropy(log_all).mean(), batch, config);
  loss.log_ratio = log_ratio.detach();
  return loss;
}

ActorCriticLoss A2cLoss(const torch::Tensor& logits, const torch::Tensor& values,
                        const ActorCriticBatch& batch, const Config& config) {
  const torch::Tensor log_all = MaskedLogSoftmax(logits, batch.mask);
  const torch::Tensor log_p = LogProbability(log_all, batch.action);
  ActorCriticLoss loss =
      Sum(-(batch.advantage * log_p).mean(), values, Entropy(log_all).mean(), batch, config);
  loss.log_ratio = log_p.detach() - batch.log_old;
  return loss;
}

torch::Tensor TrpoObjective(const torch::Tensor& logits, const ActorCriticBatch& batch) {
  const torch::Tensor log_p = LogProbability(MaskedLogSoftmax(logits, batch.mask), batch.action);
  return (batch.advantage * (log_p - batch.log_old).exp()).mean();
}

torch::Tensor MeanKl(const torch::Tensor& logits, const torch::Tensor& mask,
                     const torch::Tensor& log_old) {
  return KlDivergence(MaskedLogSoftmax(logits, mask), log_old).mean();
}

torch::Tensor FlatGradient(const torch::Tensor& scalar,
                           const std::vector<torch::Tensor>& parameters, bool create_graph) {
  std::vector<torch::Tensor> gradients =
      torch::autograd::grad({scalar}, parameters, {}, /*retain_graph=*/true, create_graph,
                            /*allow_unused=*/true);
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = torch::zeros_like(parameters[i]);
    gradients[i] = gradients[i].flatten();
  }
  return torch::cat(gradients);
}

torch::Tensor HessianVectorProduct(const torch::Tensor& gradient,
                                   const std::vector<torch::Tensor>& parameters,
                                   const torch::Tensor& vector, double damping) {
  return FlatGradient(gradient.dot(vector), parameters, false) + damping * vector;
}

torch::Tensor ConjugateGradient(const std::function<torch::Tensor(const torch::Tensor&)>& multiply,
                                const torch::Tensor& b, int64_t steps) {
  constexpr double kSmall = 1e-10;
  torch::Tensor x = torch::zeros_like(b);
  torch::Tensor residual = b.clone();
  torch::Tensor direction = residual.clone();
  double norm = residual.dot(residual).item<double>();  // squared, as the others here
  for (int64_t i = 0; i < steps && norm >= kSmall; ++i) {
    const torch::Tensor product = multiply(direction);
    const double curvature = direction.dot(product).item<double>();
    if (!(curvature > 0)) break;  // rounding has eaten a flat direction
    const double step = norm / curvature;
    x.add_(direction, step);
    residual.sub_(product, step);
    const double next = residual.dot(residual).item<double>();
    direction = residual + next / norm * direction;
    norm = next;
  }
  return x;
}

torch::Tensor DqnTargets(const torch::Tensor& next_online, const torch::Tensor& next_target,
                         const torch::Tensor& next_mask, const torch::Tensor& reward,
                         const torch::Tensor& discount, bool double_q) {
  const torch::Tensor best = MaskedArgmax(double_q ? next_online : next_target, next_mask);
  return reward + discount * next_target.gather(1, best.unsqueeze(1)).squeeze(1);
}

torch::Tensor DqnLoss(const torch::Tensor& q, const torch::Tensor& action,
                      const torch::Tensor& target, const torch::Tensor& weight) {
  const torch::Tensor taken = q.gather(1, action.unsqueeze(1)).squeeze(1);
  return (weight * torch::smooth_l1_loss(taken, target, torch::Reduction::None)).mean();
}

torch::Tensor Duel(const torch::Tensor& outputs) {
  const int64_t actions = outputs.size(1) - 1;
  const torch::Tensor advantage = outputs.narrow(1, 0, actions);
  return outputs.narrow(1, actions, 1) + advantage - advantage.mean(1, /*keepdim=*/true);
}

}  // namespace hone::learn
