// A trained network that scores what is offered, evaluated without torch. What an action means may
// differ from state to state; so each is told in numbers, and one network scores all of them:
//   score of an offer = O(S(features of the state), features of the offer)
// where S and O are stacks of dense layers (actions as inputs: Dulac-Arnold et al. 2015, "Deep
// Reinforcement Learning in Large Discrete Action Spaces").
#ifndef HONE_POLICY_OFFER_NETWORK_H_
#define HONE_POLICY_OFFER_NETWORK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "policy/policy_file.h"

namespace hone::policy {

class DenseStack;

// Tensors: "PREFIX.state.0.weight", …, and "PREFIX.offer.0.weight", …, as PolicyFile's dense
// layers. The first layer of offers takes what S makes, then the offer's features.
class OfferNetwork {
 public:
  // Errors: a stack is missing, or they do not fit together.
  static StatusOr<OfferNetwork> Read(const std::map<std::string, Tensor>& tensors,
                                     const std::string& prefix, const std::string& activation);

  int64_t state_features() const;
  int64_t offer_features() const;
  // `offers`: offer_features() numbers for each of `mask`. 0 where the mask is false.
  std::vector<float> Forward(std::span<const float> state, std::span<const float> offers,
                             const std::vector<bool>& mask) const;

 private:
  std::shared_ptr<const DenseStack> state_, offer_;
};

}  // namespace hone::policy

#endif  // HONE_POLICY_OFFER_NETWORK_H_
