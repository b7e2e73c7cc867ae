// Seeds from a seed, and torch's default generator seeded for a while.
#ifndef HONE_LEARN_SEEDED_H_
#define HONE_LEARN_SEEDED_H_

#include <torch/torch.h>

#include <cstdint>

#include "core/rng.h"

namespace hone::learn {

// One of many independent seeds.
inline uint64_t SubSeed(int64_t seed, uint64_t number) {
  return Rng(static_cast<uint64_t>(seed) ^ Rng(number).Next()).Next();
}

// While it lives, torch's default generator goes on from `seed`; then it is as it was. Not for two
// threads at once.
class SeededTorch {
 public:
  explicit SeededTorch(uint64_t seed)
      : generator_(at::globalContext().defaultGenerator(at::kCPU)),
        before_(generator_.get_state()) {
    generator_.set_current_seed(seed);
  }
  ~SeededTorch() { generator_.set_state(before_); }
  SeededTorch(const SeededTorch&) = delete;
  SeededTorch& operator=(const SeededTorch&) = delete;

 private:
  at::Generator generator_;
  torch::Tensor before_;
};

}  // namespace hone::learn

#endif  // HONE_LEARN_SEEDED_H_
