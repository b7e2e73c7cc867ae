#include "learn/categorical.h"

#include <cmath>
#include <limits>

namespace hone::learn {

torch::Tensor MaskedLogSoftmax(const torch::Tensor& logits, const torch::Tensor& mask) {
  return torch::log_softmax(logits.masked_fill(mask.logical_not(), -1e8), 1);
}

torch::Tensor LogProbability(const torch::Tensor& log_probabilities, const torch::Tensor& actions) {
  return log_probabilities.gather(1, actions.unsqueeze(1)).squeeze(1);
}

torch::Tensor Entropy(const torch::Tensor& log_probabilities) {
  return -(log_probabilities.exp() * log_probabilities).sum(1);
}

torch::Tensor KlDivergence(const torch::Tensor& log_p, const torch::Tensor& log_q) {
  return (log_p.exp() * (log_p - log_q)).sum(1);
}

torch::Tensor Sample(const torch::Tensor& log_probabilities, const torch::Tensor& mask, Rng& rng) {
  const torch::Tensor log_p = log_probabilities.detach().contiguous();
  const torch::Tensor allowed = mask.contiguous();
  const int64_t rows = log_p.size(0), count = log_p.size(1);
  torch::Tensor actions = torch::empty({rows}, torch::kInt64);
  const float* p = log_p.data_ptr<float>();
  const bool* may = allowed.data_ptr<bool>();
  int64_t* action = actions.data_ptr<int64_t>();
  for (int64_t i = 0; i < rows; ++i, p += count, may += count) {
    // Probabilities may sum up to a little less than one: the last allowed takes the rest.
    double left = rng.Unit();
    action[i] = 0;
    for (int64_t a = 0; a < count; ++a) {
      if (!may[a]) continue;
      action[i] = a;
      if ((left -= std::exp(static_cast<double>(p[a]))) < 0) break;
    }
  }
  return actions;
}

torch::Tensor MaskedArgmax(const torch::Tensor& values, const torch::Tensor& mask) {
  return values.detach()
      .masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity())
      .argmax(1);
}

}  // namespace hone::learn
