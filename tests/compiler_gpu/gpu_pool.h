// Workers for GPUs: one pool for the H100, for all tests of a process; and of a program alone.
#ifndef HONE_TESTS_COMPILER_GPU_GPU_POOL_H_
#define HONE_TESTS_COMPILER_GPU_GPU_POOL_H_

#include <memory>
#include <string>

#include "support/programs.h"
#include "tune/pool_evaluator.h"

namespace hone::testing {

inline Pool& GpuPool() {
  static const std::unique_ptr<Pool> pool = [] {
    PoolOptions options;
    options.target = "h100";
    return MakePool(options);
  }();
  return *pool;
}

inline std::unique_ptr<tune::PoolEvaluator> GpuEvaluator(const std::string& program,
                                                         const std::string& target = "h100") {
  auto evaluator = tune::PoolEvaluator::Start(
      [target] {  // it is started again, too
        PoolOptions options;
        options.target = target;
        return Pool::Start(options);
      },
      program, /*seed=*/1);
  EXPECT_TRUE(evaluator) << evaluator.error().message;
  return evaluator ? *std::move(evaluator) : nullptr;
}

}  // namespace hone::testing

#endif  // HONE_TESTS_COMPILER_GPU_GPU_POOL_H_
