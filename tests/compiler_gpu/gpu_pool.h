// One pool of workers for the H100, for all tests of a process.
#ifndef HONE_TESTS_COMPILER_GPU_GPU_POOL_H_
#define HONE_TESTS_COMPILER_GPU_GPU_POOL_H_

#include <memory>

#include "support/programs.h"

namespace hone::testing {

inline Pool& GpuPool() {
  static const std::unique_ptr<Pool> pool = [] {
    PoolOptions options;
    options.target = "h100";
    return MakePool(options);
  }();
  return *pool;
}

}  // namespace hone::testing

#endif  // HONE_TESTS_COMPILER_GPU_GPU_POOL_H_
