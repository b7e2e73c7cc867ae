#include "learn/offer_network.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/result.h"

namespace hone::learn {
namespace {

class OfferNetwork : public Network {
 public:
  OfferNetwork(const NetworkOptions& options, const TaskShape& shape, int64_t outputs,
               double last_gain)
      : actions_(shape.actions),
        offer_features_(shape.offer_features),
        state_features_(shape.features - shape.actions * shape.offer_features) {
    state_ = register_module(
        "state", MakeDense(options, state_features_, options.hidden, kOfferWidth, std::sqrt(2.0)));
    offer_ = register_module("offer", MakeDense(options, kOfferWidth + offer_features_,
                                                {kOfferWidth, kOfferWidth}, 1, last_gain));
    if (outputs > actions_) {
      worth_ = register_module("worth",
                               MakeDense(options, state_features_, options.hidden, 1, last_gain));
    }
  }

  torch::Tensor Forward(const Observation& observation) override {
    const int64_t rows = observation.size();
    const torch::Tensor state = observation.features.slice(1, 0, state_features_);
    const torch::Tensor offered = observation.mask.flatten().nonzero().squeeze(1);
    const torch::Tensor offers = observation.features.slice(1, state_features_)
                                     .reshape({rows * actions_, offer_features_})
                                     .index_select(0, offered);
    const torch::Tensor row = offered.div(actions_, "floor");
    const torch::Tensor scores =
        offer_->Forward(torch::cat({state_->Forward(state).index_select(0, row), offers}, 1));
    const torch::Tensor all = torch::zeros({rows * actions_})
                                  .index_copy(0, offered, scores.squeeze(1))
                                  .view({rows, actions_});
    return worth_ == nullptr ? all : torch::cat({all, worth_->Forward(state)}, 1);
  }

  void Export(const std::string& prefix,
              std::map<std::string, policy::Tensor>& tensors) const override {
    state_->Export(prefix + ".state", tensors);
    offer_->Export(prefix + ".offer", tensors);
  }

 private:
  const int64_t actions_, offer_features_, state_features_;
  std::shared_ptr<Dense> state_, offer_, worth_;
};

// The state's features alone: what is offered in it says little about its worth.
class StateNetwork : public Network {
 public:
  StateNetwork(const NetworkOptions& options, const TaskShape& shape, int64_t outputs,
               double last_gain)
      : state_features_(shape.features - shape.actions * shape.offer_features),
        dense_(register_module(
            "dense", MakeDense(options, state_features_, options.hidden, outputs, last_gain))) {}

  torch::Tensor Forward(const Observation& observation) override {
    return dense_->Forward(observation.features.slice(1, 0, state_features_));
  }
  void Export(const std::string& prefix,
              std::map<std::string, policy::Tensor>& tensors) const override {
    dense_->Export(prefix, tensors);
  }

 private:
  const int64_t state_features_;
  std::shared_ptr<Dense> dense_;
};

}  // namespace

std::shared_ptr<Network> MakeOfferNetwork(const NetworkOptions& options, const TaskShape& shape,
                                          int64_t outputs, double last_gain) {
  HONE_CHECK(shape.offer_features > 0);
  if (outputs < shape.actions) {
    return std::make_shared<StateNetwork>(options, shape, outputs, last_gain);
  }
  return std::make_shared<OfferNetwork>(options, shape, outputs, last_gain);
}

}  // namespace hone::learn
