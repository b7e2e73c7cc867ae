// The passes of XLA:GPU's pipeline, beside those that every target has.
#ifndef HONE_COMPILER_GPU_PASS_TABLE_H_
#define HONE_COMPILER_GPU_PASS_TABLE_H_

#include <vector>

#include "compiler/passes/pass_table.h"
#include "xla/backends/gpu/target_config/target_config.h"

namespace hone::compiler::gpu {

// The rows of the CPU's table that are not the CPU's alone, after those of XLA:GPU, which take the place
// of rows of the same name. `config` must outlive all passes.
std::vector<PassEntry> GpuPasses(const xla::gpu::GpuTargetConfig& config);
std::vector<ExcludedPass> ExcludedFromGpuPasses();

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_PASS_TABLE_H_
