#include "learn/parameters.h"

#include <algorithm>

namespace hone::learn {

FlatParameters::FlatParameters(const std::vector<std::shared_ptr<Network>>& networks) {
  for (const auto& network : networks) {
    for (const torch::Tensor& parameter : network->parameters()) parameters_.push_back(parameter);
  }
  std::vector<torch::Tensor> rows;
  for (const torch::Tensor& parameter : parameters_) rows.push_back(parameter.detach().flatten());
  values_ = torch::cat(rows);
  gradients_ = torch::zeros_like(values_);
  values_.mutable_grad() = gradients_;
  int64_t at = 0;
  for (torch::Tensor& parameter : parameters_) {
    const int64_t size = parameter.numel();
    // The handle outlives set_data, so that networks and autograd see the views.
    parameter.set_data(values_.narrow(0, at, size).view(parameter.sizes()));
    parameter.mutable_grad() = gradients_.narrow(0, at, size).view(parameter.sizes());
    at += size;
  }
}

double FlatParameters::ClipGradients(double most) {
  const double norm = gradients_.norm().item<double>();
  if (most > 0) gradients_.mul_(std::min(1.0, most / (norm + 1e-6)));
  return norm;
}

std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(const Config& config,
                                                       const FlatParameters& parameters,
                                                       int64_t begin, int64_t end) {
  torch::Tensor part = parameters.values().narrow(0, begin, end - begin);
  part.mutable_grad() = parameters.gradients().narrow(0, begin, end - begin);
  const std::vector<torch::Tensor> parts = {part};
  if (config.rms_prop) {
    return std::make_unique<torch::optim::RMSprop>(
        parts,
        torch::optim::RMSpropOptions(config.learning_rate).alpha(0.99).eps(config.adam_epsilon));
  }
  return std::make_unique<torch::optim::Adam>(
      parts, torch::optim::AdamOptions(config.learning_rate).eps(config.adam_epsilon));
}

double SetLearningRate(const Config& config, int64_t steps, torch::optim::Optimizer& optimizer) {
  double rate = config.learning_rate;
  if (config.decay_learning_rate) {
    rate *= std::max(0.0, 1 - static_cast<double>(steps) /
                                  static_cast<double>(std::max<int64_t>(1, config.total_steps)));
  }
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
  return rate;
}

}  // namespace hone::learn
