#include "policy/offer_network.h"

#include <utility>

#include "policy/dense.h"

namespace hone::policy {

StatusOr<OfferNetwork> OfferNetwork::Read(const std::map<std::string, Tensor>& tensors,
                                          const std::string& prefix,
                                          const std::string& activation) {
  StatusOr<DenseStack> state = DenseStack::Make(tensors, prefix + ".state", activation);
  if (!state) return tl::unexpected(state.error());
  StatusOr<DenseStack> offer = DenseStack::Make(tensors, prefix + ".offer", activation);
  if (!offer) return tl::unexpected(offer.error());
  if (state->empty() || offer->empty() || offer->outputs() != 1 ||
      offer->inputs() <= state->outputs()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "the policy has no network that scores offers under '" + prefix + "'");
  }
  OfferNetwork network;
  network.state_ = std::make_shared<DenseStack>(*std::move(state));
  network.offer_ = std::make_shared<DenseStack>(*std::move(offer));
  return network;
}

int64_t OfferNetwork::state_features() const { return state_->inputs(); }

int64_t OfferNetwork::offer_features() const { return offer_->inputs() - state_->outputs(); }

std::vector<float> OfferNetwork::Forward(std::span<const float> state,
                                         std::span<const float> offers,
                                         const std::vector<bool>& mask) const {
  const auto width = static_cast<size_t>(offer_features());
  const Eigen::VectorXf made = state_->Forward(
      Eigen::Map<const Eigen::VectorXf>(state.data(), static_cast<Eigen::Index>(state.size())));
  Eigen::VectorXf row(offer_->inputs());
  row.head(made.size()) = made;
  std::vector<float> scores(mask.size(), 0);
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) continue;
    row.tail(offer_features()) = Eigen::Map<const Eigen::VectorXf>(
        offers.data() + i * width, static_cast<Eigen::Index>(width));
    scores[i] = offer_->Forward(row)[0];
  }
  return scores;
}

}  // namespace hone::policy
