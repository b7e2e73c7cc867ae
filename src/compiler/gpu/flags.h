// Debug options of XLA:GPU that decide on the optimised module.
#ifndef HONE_COMPILER_GPU_FLAGS_H_
#define HONE_COMPILER_GPU_FLAGS_H_

#include <vector>

#include "core/compile_plan.h"
#include "core/program.h"

namespace hone::compiler::gpu {

// The stock value first. Of the passes that changed the module those may be left out that only make
// it better; what the others do later ones rely on. With `fast_math` also flags that change the
// numerics.
std::vector<FlagChoices> GpuFlagsToTry(const std::vector<StockPass>& passes, bool fast_math);

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_FLAGS_H_
