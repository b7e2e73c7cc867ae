// Workers that are given kernels of hone-loops, for a processor of one kind wherever they run.
#ifndef HONE_TESTS_LOOPS_KERNEL_POOL_H_
#define HONE_TESTS_LOOPS_KERNEL_POOL_H_

#include <memory>
#include <string>

#include "loops/kernel_source.h"
#include "support/programs.h"

namespace hone::loops {

inline constexpr Machine kMachine{2, 64, 32};

inline PoolOptions WithKernels() {
  GeneratorOptions generator;
  generator.program_path = HONE_LOOPS_BINARY;
  const auto source = std::make_shared<KernelSource>(generator, kMachine);
  PoolOptions options;
  options.kernels = [source](const std::vector<std::string>& tasks) { return source->Get(tasks); };
  return options;
}

inline Pool& KernelPool() {
  static const std::unique_ptr<Pool> pool = hone::testing::MakePool(WithKernels());
  return *pool;
}

}  // namespace hone::loops

#endif  // HONE_TESTS_LOOPS_KERNEL_POOL_H_
