// Networks from observations to numbers.
#ifndef HONE_LEARN_NETWORK_H_
#define HONE_LEARN_NETWORK_H_

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "learn/task.h"
#include "policy/policy_file.h"

namespace hone::learn {

struct NetworkOptions {
  // Or "graph", over Observation::graphs and the features; or "offers" (offer_network.h).
  std::string kind = "mlp";
  std::vector<int64_t> hidden = {256, 256};
  std::string activation = "tanh";  // or "relu"
  bool value_features = false;      // takes Observation::value_features too
  bool orthogonal = true;           // initial weights; else torch's own (Kaiming's uniform)
};

class Network : public torch::nn::Module {
 public:
  // [B, outputs].
  virtual torch::Tensor Forward(const Observation& observation) = 0;
  // Its tensors under `prefix` ("policy", "value"), as policy/ reads them.
  virtual void Export(const std::string& prefix,
                      std::map<std::string, policy::Tensor>& tensors) const = 0;
};

// A stack of dense layers, "0" and so on, with the options' activation between them.
class Dense : public torch::nn::Module {
 public:
  explicit Dense(bool relu) : relu_(relu) {}
  void Add(torch::nn::Linear layer);
  torch::Tensor Forward(torch::Tensor x) const;
  void Export(const std::string& prefix, std::map<std::string, policy::Tensor>& tensors) const;

 private:
  const bool relu_;
  std::vector<torch::nn::Linear> layers_;
};

// With initial weights by `options`, as MakeNetwork's; their hidden layers are left aside.
std::shared_ptr<Dense> MakeDense(const NetworkOptions& options, int64_t inputs,
                                 std::vector<int64_t> hidden, int64_t outputs, double last_gain);

// Orthogonal weights are of gain sqrt(2) in hidden layers and `last_gain` in the last, biases zero
// (as stable-baselines3 has them). Uses torch's default generator.
std::shared_ptr<Network> MakeNetwork(const NetworkOptions& options, const TaskShape& shape,
                                     int64_t outputs, double last_gain);

// A copy, for Network::Export.
policy::Tensor ToPolicyTensor(const torch::Tensor& tensor);

}  // namespace hone::learn

#endif  // HONE_LEARN_NETWORK_H_
