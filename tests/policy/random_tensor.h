// Tensors of random values.
#ifndef HONE_TESTS_POLICY_RANDOM_TENSOR_H_
#define HONE_TESTS_POLICY_RANDOM_TENSOR_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "policy/policy_file.h"

namespace hone::policy {

// Uniform in [-scale, scale).
inline Tensor Random(std::vector<int64_t> shape, Rng& rng, double scale = 1) {
  Tensor tensor{std::move(shape), {}};
  int64_t size = 1;
  for (const int64_t length : tensor.shape) size *= length;
  for (int64_t i = 0; i < size; ++i) {
    tensor.values.push_back(static_cast<float>(scale * (2 * rng.Unit() - 1)));
  }
  return tensor;
}

}  // namespace hone::policy

#endif  // HONE_TESTS_POLICY_RANDOM_TENSOR_H_
