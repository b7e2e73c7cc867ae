#include "learn/gae.h"

#include <vector>

namespace hone::learn {

torch::Tensor Advantages(const GaeInput& input, double gamma, double lambda) {
  const int64_t steps = input.reward.size(0), count = input.reward.size(1);
  torch::Tensor advantages = torch::empty({steps, count});
  const float* reward = input.reward.data_ptr<float>();
  const float* value = input.value.data_ptr<float>();
  const bool* terminated = input.terminated.data_ptr<bool>();
  const bool* truncated = input.truncated.data_ptr<bool>();
  const float* cut_value = input.cut_value.data_ptr<float>();
  const float* next_value = input.last_value.data_ptr<float>();
  float* advantage = advantages.data_ptr<float>();
  std::vector<double> tail(static_cast<size_t>(count), 0);  // of the step after
  for (int64_t t = steps - 1; t >= 0; --t) {
    for (int64_t b = 0; b < count; ++b) {
      const int64_t i = t * count + b;
      const bool over = terminated[i] || truncated[i];
      const double future = terminated[i] ? 0 : truncated[i] ? cut_value[i] : next_value[b];
      const double delta = reward[i] + gamma * future - value[i];
      tail[b] = delta + (over ? 0 : gamma * lambda * tail[b]);
      advantage[i] = static_cast<float>(tail[b]);
    }
    next_value = value + t * count;
  }
  return advantages;
}

}  // namespace hone::learn
