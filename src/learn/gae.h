// Advantages of what was done in a rollout.
#ifndef HONE_LEARN_GAE_H_
#define HONE_LEARN_GAE_H_

#include <torch/torch.h>

namespace hone::learn {

// T steps of B environments, row-major.
struct GaeInput {
  torch::Tensor reward;      // [T, B] float32
  torch::Tensor value;       // [T, B] float32, of the states acted in
  torch::Tensor terminated;  // [T, B] bool
  torch::Tensor truncated;   // [T, B] bool
  torch::Tensor cut_value;   // [T, B] float32: of the state a truncated episode was left in, else 0
  torch::Tensor last_value;  // [B] float32: of the states after the last step
};

// Generalised advantage estimation: A_t = sum over k of (gamma lambda)^k delta_{t+k} within the
// episode, delta_t = r_t + gamma V(s_{t+1}) - V(s_t) (Schulman et al. 2016, equation 16). The
// future of a terminated state is worth 0, that of a truncated one `cut_value`. [T, B].
torch::Tensor Advantages(const GaeInput& input, double gamma, double lambda);

}  // namespace hone::learn

#endif  // HONE_LEARN_GAE_H_
