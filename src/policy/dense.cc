#include "policy/dense.h"

#include <utility>

namespace hone::policy {

StatusOr<DenseStack> DenseStack::Make(const std::map<std::string, Tensor>& tensors,
                                      const std::string& prefix, const std::string& activation) {
  DenseStack stack;
  if (activation != "tanh" && activation != "relu") {
    return MakeError(ErrorCode::kInvalidInput,
                     "the policy's activation is '" + activation + "', not tanh or relu");
  }
  stack.relu_ = activation == "relu";
  for (size_t i = 0;; ++i) {
    const std::string name = prefix + "." + std::to_string(i);
    const auto weight = tensors.find(name + ".weight");
    if (weight == tensors.end()) return stack;
    const auto bias = tensors.find(name + ".bias");
    const auto& shape = weight->second.shape;
    if (shape.size() != 2 || bias == tensors.end() ||
        bias->second.shape != std::vector<int64_t>{shape[0]} ||
        (i > 0 && stack.outputs() != shape[1])) {
      return MakeError(ErrorCode::kInvalidInput,
                       "the policy's layer " + name + " does not fit the layers around it");
    }
    Layer& layer = stack.layers_.emplace_back();
    layer.weight =
        Eigen::Map<const decltype(layer.weight)>(weight->second.values.data(), shape[0], shape[1]);
    layer.bias = Eigen::Map<const Eigen::VectorXf>(bias->second.values.data(), shape[0]);
  }
}

Eigen::VectorXf DenseStack::Forward(Eigen::VectorXf x) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    Eigen::VectorXf y = layers_[i].weight * x + layers_[i].bias;
    if (i + 1 < layers_.size()) {
      y = relu_ ? Eigen::VectorXf(y.cwiseMax(0.0f)) : Eigen::VectorXf(y.array().tanh());
    }
    x = std::move(y);
  }
  return x;
}

}  // namespace hone::policy
