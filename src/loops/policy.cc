#include "loops/policy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "loops/site_view.h"

namespace hone::loops {
namespace {

constexpr double kLeastLeft = 1e-6;  // of probability: further nests are not looked at

Error Bad(const std::string& what) {
  return {ErrorCode::kInvalidInput,
          "it is no policy for loops: " + what + "; make one with `hone train --loops`"};
}

// Of what the mask allows.
std::vector<double> Softmax(const std::vector<float>& scores, const std::vector<bool>& mask,
                            double temperature) {
  double highest = -INFINITY;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) highest = std::max<double>(highest, scores[i]);
  }
  std::vector<double> probabilities(mask.size(), 0);
  double sum = 0;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) sum += probabilities[i] = std::exp((scores[i] - highest) / temperature);
  }
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

class LoopsPrior final : public Prior {
 public:
  LoopsPrior(const Catalogue& catalogue, policy::OfferNetwork network, double temperature)
      : catalogue_(catalogue),
        network_(std::move(network)),
        temperature_(temperature),
        order_(SiteOrder(catalogue)) {}

  Opinion Of(const Observed& state) const override {
    Scheduled scheduled(catalogue_.program());
    size_t place = 0;
    for (const uint16_t number : state.passes) {
      const std::optional<Step> step = catalogue_.Decide(scheduled, number);
      if (!step || !scheduled.Apply(*step)) continue;
      const auto at = std::find(order_.begin(), order_.end(), number / kSiteDecisions);
      place = static_cast<size_t>(at - order_.begin());
    }
    Opinion opinion;
    opinion.probabilities.assign(catalogue_.size(), 0);
    double left = 1, sum = 0;
    while (left > kLeastLeft) {
      place = NextPlace(catalogue_, scheduled, order_, place);
      if (place == order_.size()) break;
      const SiteView view = LookAtSite(catalogue_, scheduled, order_[place]);
      const std::vector<double> here =
          Softmax(network_.Forward(view.features, view.offers, view.mask), view.mask, temperature_);
      for (size_t i = 0; i < kSiteDecisions; ++i) {
        sum += opinion.probabilities[order_[place] * kSiteDecisions + i] = left * here[i];
      }
      left *= here[kSiteDecisions];
      ++place;
    }
    // What is left is that it stops.
    for (double& probability : opinion.probabilities) probability /= sum > 0 ? sum : 1;
    return opinion;
  }

 private:
  const Catalogue& catalogue_;
  const policy::OfferNetwork network_;
  const double temperature_;
  const std::vector<size_t> order_;
};

}  // namespace

StatusOr<std::shared_ptr<const LoopsPolicy>> LoopsPolicy::Read(std::string_view bytes) {
  StatusOr<policy::PolicyFile> file = policy::ReadPolicyFile(bytes);
  if (!file) return tl::unexpected(file.error());
  const std::string format = file->metadata[policy::kMetadataFormat];
  if (format != kLoopsPolicyFormat) {
    return tl::unexpected(Bad("its format is '" + format + "', not " + kLoopsPolicyFormat));
  }
  for (const auto& [name, tensor] : file->tensors) {
    if (!std::all_of(tensor.values.begin(), tensor.values.end(),
                     [](float value) { return std::isfinite(value); })) {
      return tl::unexpected(Bad("its tensor '" + name + "' holds values that are no numbers"));
    }
  }
  auto network = policy::OfferNetwork::Read(file->tensors, "policy",
                                            file->metadata[policy::kMetadataActivation]);
  if (!network) return tl::unexpected(Bad(network.error().message));
  if (network->state_features() != static_cast<int64_t>(kSiteFeatures) ||
      network->offer_features() != static_cast<int64_t>(kOfferFeatures)) {
    return tl::unexpected(Bad("its network does not fit what this hone shows of a nest"));
  }
  auto policy = std::make_shared<LoopsPolicy>();
  policy->network_ = *std::move(network);
  if (file->metadata[policy::kMetadataHead] == "q") {
    const double given = std::strtod(file->metadata[policy::kMetadataTemperature].c_str(), nullptr);
    if (given > 0) policy->temperature_ = given;
  }
  policy->metadata_ = std::move(file->metadata);
  return policy;
}

std::shared_ptr<const Prior> LoopsPolicy::MakePrior(const Catalogue& catalogue) const {
  return std::make_shared<LoopsPrior>(catalogue, network_, temperature_);
}

}  // namespace hone::loops
