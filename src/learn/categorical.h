// A distribution over the allowed of A actions.
#ifndef HONE_LEARN_CATEGORICAL_H_
#define HONE_LEARN_CATEGORICAL_H_

#include <torch/torch.h>

#include "core/rng.h"

namespace hone::learn {

// log p of every action: [B, A] from logits [B, A] and mask [B, A] bool. Other actions have a
// huge negative finite value, p = 0 and no gradient (Huang, Ontañón 2020, "A Closer Look at Invalid
// Action Masking in Policy Gradient Algorithms").
torch::Tensor MaskedLogSoftmax(const torch::Tensor& logits, const torch::Tensor& mask);

// Log-probabilities of the actions taken: [B] from [B, A] and [B] int64.
torch::Tensor LogProbability(const torch::Tensor& log_probabilities, const torch::Tensor& actions);
// In nats: [B].
torch::Tensor Entropy(const torch::Tensor& log_probabilities);
// KL(p || q): [B].
torch::Tensor KlDivergence(const torch::Tensor& log_p, const torch::Tensor& log_q);

// Actions drawn: [B] int64. Never one that is not allowed, whatever the logits round to. Float32 on
// the CPU, without gradient.
torch::Tensor Sample(const torch::Tensor& log_probabilities, const torch::Tensor& mask, Rng& rng);

// The best allowed of values [B, A], the first of equals: [B] int64.
torch::Tensor MaskedArgmax(const torch::Tensor& values, const torch::Tensor& mask);

}  // namespace hone::learn

#endif  // HONE_LEARN_CATEGORICAL_H_
