// All parameters of some networks as one vector, for optimisers and line searches: an update is
// then a few operations on long vectors and not some on each layer's.
#ifndef HONE_LEARN_PARAMETERS_H_
#define HONE_LEARN_PARAMETERS_H_

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "learn/config.h"
#include "learn/network.h"

namespace hone::learn {

class FlatParameters {
 public:
  // The networks' parameters and gradients become views of values() and gradients().
  explicit FlatParameters(const std::vector<std::shared_ptr<Network>>& networks);

  // [N]; needs no gradient itself. Its `grad` is gradients().
  const torch::Tensor& values() const { return values_; }
  const torch::Tensor& gradients() const { return gradients_; }
  // Those of the networks, in order.
  const std::vector<torch::Tensor>& parameters() const { return parameters_; }
  int64_t size() const { return values_.numel(); }

  void ClearGradients() { gradients_.zero_(); }
  // Scales the gradients down to the norm `most`, if that is over 0. The norm before (torch's
  // clip_grad_norm_).
  double ClipGradients(double most);

 private:
  std::vector<torch::Tensor> parameters_;
  torch::Tensor values_;
  torch::Tensor gradients_;
};

// Adam, or RMSprop where config.rms_prop; on the part [begin, end) of the parameters.
std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(const Config& config,
                                                       const FlatParameters& parameters,
                                                       int64_t begin, int64_t end);
// The rate after `steps` of config.total_steps; sets it.
double SetLearningRate(const Config& config, int64_t steps, torch::optim::Optimizer& optimizer);

}  // namespace hone::learn

#endif  // HONE_LEARN_PARAMETERS_H_
