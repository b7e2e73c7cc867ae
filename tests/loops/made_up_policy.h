// Policies over schedules that nobody trained.
#ifndef HONE_TESTS_LOOPS_MADE_UP_POLICY_H_
#define HONE_TESTS_LOOPS_MADE_UP_POLICY_H_

#include <algorithm>

#include "core/rng.h"
#include "loops/policy.h"
#include "loops/site_view.h"
#include "policy/policy_file.h"

namespace hone::loops {

inline policy::Tensor Random(int64_t rows, int64_t columns, Rng& rng) {
  policy::Tensor tensor{{rows, columns}, {}};
  for (int64_t i = 0; i < rows * columns; ++i) {
    tensor.values.push_back(static_cast<float>(rng.Unit() - 0.5));
  }
  return tensor;
}

// An untrained network, or one that wants what rules of thumb do and nothing else.
inline policy::PolicyFile MadeUpPolicy(bool rules_of_thumb) {
  Rng rng(1);
  policy::PolicyFile file;
  file.metadata = {{policy::kMetadataFormat, kLoopsPolicyFormat},
                   {policy::kMetadataActivation, "tanh"}};
  constexpr auto kSite = static_cast<int64_t>(kSiteFeatures);
  constexpr auto kOffer = static_cast<int64_t>(kOfferFeatures);
  file.tensors["policy.state.0.weight"] = Random(4, kSite, rng);
  file.tensors["policy.state.0.bias"] = {{4}, {0, 0, 0, 0}};
  file.tensors["policy.offer.0.weight"] = Random(1, 4 + kOffer, rng);
  file.tensors["policy.offer.0.bias"] = {{1}, {0}};
  if (rules_of_thumb) {
    auto& weights = file.tensors["policy.offer.0.weight"].values;
    std::fill(weights.begin(), weights.end(), 0.0f);
    weights[4 + kStepKinds + 1] = 30;
  }
  return file;
}

}  // namespace hone::loops

#endif  // HONE_TESTS_LOOPS_MADE_UP_POLICY_H_
