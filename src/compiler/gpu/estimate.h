// XLA's own model of a GPU's run time, from which its compiler decides fusions.
#ifndef HONE_COMPILER_GPU_ESTIMATE_H_
#define HONE_COMPILER_GPU_ESTIMATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/compile_plan.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/stream_executor/device_description.h"

namespace hone::compiler::gpu {

// The kernels of the module as it stands, each with XLA's estimate of it on `device` and a launch:
// for fusions by Triton that of GpuPerformanceModelWithIndexingAnalysis, for the other fusions and
// what else XLA makes kernels of itself GpuPerformanceModel's. For calls of cuBLAS and cuDNN, which
// XLA has no model of, and for reduces and scatters that it would write otherwise before it emits
// them: the time of their floating-point operations at the device's peak or of their bytes at its
// bandwidth, whichever is longer; dots and convolutions likewise unless the module is `optimised`, for
// then XLA emits those that are left as loops. A loop's kernels count as often as it runs (launches.h). Kernels
// of one name are one entry.
absl::StatusOr<std::vector<KernelTime>> EstimateKernels(
    const xla::HloModule& module, const stream_executor::DeviceDescription& device, bool optimised);

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_ESTIMATE_H_
