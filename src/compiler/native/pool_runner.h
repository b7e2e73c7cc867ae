// Loops on the threads that XLA gives to custom calls.
#ifndef HONE_COMPILER_NATIVE_POOL_RUNNER_H_
#define HONE_COMPILER_NATIVE_POOL_RUNNER_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "compiler/native/shared_loop.h"
#include "core/native_kernel.h"
#include "xla/ffi/api/ffi.h"

namespace hone::native {

class PoolRunner : public loops::Runner {
 public:
  explicit PoolRunner(xla::ffi::ThreadPool& pool)
      : Runner{&PoolRunner::Run}, pool_(pool), threads_(pool.num_threads()) {}

  int64_t threads() const { return threads_; }

 private:
  static void Run(const Runner* self, int64_t iterations, SharedLoop::Body body, void* state) {
    const auto* const runner = static_cast<const PoolRunner*>(self);
    // Several parts for each thread, for not all begin at once.
    const int64_t chunk = std::max<int64_t>(1, iterations / (4 * runner->threads_));
    const int64_t parts = (iterations + chunk - 1) / chunk;
    const int64_t helpers = std::min(runner->threads_ - 1, parts - 1);
    if (helpers <= 0) return body(state, 0, iterations);
    // Kept by those who come late, too.
    auto loop = std::make_shared<SharedLoop>(body, state, iterations, chunk, helpers + 1);
    for (int64_t i = 1; i <= helpers; ++i) {
      runner->pool_.Schedule([loop, i] { loop->Help(static_cast<size_t>(i)); });
    }
    loop->TakeParts(0);
    loop->Close();
  }

  xla::ffi::ThreadPool& pool_;
  const int64_t threads_;
};

}  // namespace hone::native

#endif  // HONE_COMPILER_NATIVE_POOL_RUNNER_H_
