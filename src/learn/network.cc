#include "learn/network.h"

#include <cmath>
#include <utility>

#include "core/result.h"
#include "learn/graph_network.h"
#include "learn/offer_network.h"

namespace hone::learn {
namespace {

class Mlp : public Network {
 public:
  Mlp(const NetworkOptions& options, const TaskShape& shape, int64_t outputs, double last_gain)
      : value_features_(options.value_features && shape.value_features > 0),
        dense_(register_module(
            "dense",
            MakeDense(options, shape.features + (value_features_ ? shape.value_features : 0),
                      options.hidden, outputs, last_gain))) {}

  torch::Tensor Forward(const Observation& observation) override {
    torch::Tensor x = observation.features;
    if (value_features_) x = torch::cat({x, observation.value_features}, 1);
    return dense_->Forward(x);
  }

  void Export(const std::string& prefix,
              std::map<std::string, policy::Tensor>& tensors) const override {
    dense_->Export(prefix, tensors);
  }

 private:
  const bool value_features_;
  const std::shared_ptr<Dense> dense_;
};

}  // namespace

void Dense::Add(torch::nn::Linear layer) {
  layers_.push_back(register_module(std::to_string(layers_.size()), std::move(layer)));
}

torch::Tensor Dense::Forward(torch::Tensor x) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    x = torch::linear(x, layers_[i]->weight, layers_[i]->bias);
    if (i + 1 < layers_.size()) x = relu_ ? torch::relu(x) : torch::tanh(x);
  }
  return x;
}

void Dense::Export(const std::string& prefix,
                   std::map<std::string, policy::Tensor>& tensors) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = prefix + "." + std::to_string(i);
    tensors[name + ".weight"] = ToPolicyTensor(layers_[i]->weight);
    tensors[name + ".bias"] = ToPolicyTensor(layers_[i]->bias);
  }
}

std::shared_ptr<Dense> MakeDense(const NetworkOptions& options, int64_t inputs,
                                 std::vector<int64_t> hidden, int64_t outputs, double last_gain) {
  auto dense = std::make_shared<Dense>(options.activation == "relu");
  hidden.push_back(outputs);
  for (size_t i = 0; i < hidden.size(); ++i) {
    torch::nn::Linear layer(inputs, hidden[i]);
    if (options.orthogonal) {
      const bool last = i + 1 == hidden.size();
      torch::nn::init::orthogonal_(layer->weight, last ? last_gain : std::sqrt(2.0));
      torch::nn::init::zeros_(layer->bias);
    }
    dense->Add(layer);
    inputs = hidden[i];
  }
  return dense;
}

policy::Tensor ToPolicyTensor(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  const float* values = plain.data_ptr<float>();
  return {plain.sizes().vec(), std::vector<float>(values, values + plain.numel())};
}

std::shared_ptr<Network> MakeNetwork(const NetworkOptions& options, const TaskShape& shape,
                                     int64_t outputs, double last_gain) {
  if (options.kind == "graph") return MakeGraphNetwork(options, shape, outputs, last_gain);
  if (options.kind == "offers") return MakeOfferNetwork(options, shape, outputs, last_gain);
  HONE_CHECK(options.kind == "mlp");
  return std::make_shared<Mlp>(options, shape, outputs, last_gain);
}

}  // namespace hone::learn
