#include "compiler/gpu/estimate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "compiler/gpu/mlir_context.h"
#include "compiler/launches.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/service/gpu/model/gpu_hlo_cost_analysis.h"
#include "xla/service/gpu/model/gpu_performance_model.h"
#include "xla/service/gpu/reduction_utils.h"
#include "xla/service/scatter_simplifier.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler::gpu {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr double kLaunchSeconds = 1e-6;  // GpuPerformanceModelBase::kKernelLaunchOverhead

class Estimator {
 public:
  explicit Estimator(const stream_executor::DeviceDescription& device)
      : device_(device), model_(device, MlirContext()) {
    options_.count_multiple_input_accesses = true;
  }

  absl::Status Add(const xla::HloComputation& computation, double times) {
    xla::gpu::GpuHloCostAnalysis costs(options_, device_);
    if (absl::Status status = computation.Accept(&costs); !status.ok()) return status;
    for (const HloInstruction* instruction : computation.instructions()) {
      if (!RunsKernel(*instruction)) continue;
      KernelTime& kernel = kernels_[std::string(instruction->name())];
      kernel.name = std::string(instruction->name());
      kernel.opcode = std::string(xla::HloOpcodeString(instruction->opcode()));
      kernel.seconds += times * Seconds(*instruction, costs);
      kernel.calls += static_cast<int64_t>(times);
    }
    return absl::OkStatus();
  }

  std::vector<KernelTime> Take() {
    std::vector<KernelTime> kernels;
    for (auto& [name, kernel] : kernels_) kernels.push_back(std::move(kernel));
    std::sort(kernels.begin(), kernels.end(), [](const KernelTime& a, const KernelTime& b) {
      return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
    });
    return kernels;
  }

 private:
  // XLA's model takes reduces and scatters for such as its emitters take, and ends the process where
  // TreeReductionRewriter has not yet split, or ScatterSimplifier not yet simplified, the others.
  bool IsModelled(const HloInstruction& instruction) const {
    if (instruction.opcode() == HloOpcode::kFusion) {
      for (const HloInstruction* fused : instruction.fused_instructions()) {
        if (!IsModelled(*fused)) return false;
      }
      return true;
    }
    if (const auto* scatter = xla::DynCast<xla::HloScatterInstruction>(&instruction)) {
      return xla::ScatterSimplifier::IsSimplifiedScatter(scatter);
    }
    return instruction.opcode() != HloOpcode::kReduce ||
           !xla::gpu::IsReductionFromOrToContiguousDimensions(instruction, device_) ||
           xla::gpu::ReductionIsRaceFree(
               xla::gpu::GetReductionKindAndContiguousComponents(instruction), device_);
  }

  double Seconds(const HloInstruction& instruction, const xla::gpu::GpuHloCostAnalysis& costs) {
    if (!IsModelled(instruction)) return Roofline(instruction, costs);
    switch (instruction.opcode()) {
      case HloOpcode::kCustomCall:
      case HloOpcode::kDot:
      case HloOpcode::kConvolution:
        return Roofline(instruction, costs);
      default:
        return kLaunchSeconds +
               absl::ToDoubleSeconds(
                   model_.Get().EstimateRunTimeForInstruction(&instruction, &costs).exec_time);
    }
  }

  // What libraries compute, at the machine's peak.
  double Roofline(const HloInstruction& instruction, const xla::gpu::GpuHloCostAnalysis& costs) {
    xla::PrimitiveType type = xla::F32;
    for (const HloInstruction* operand : instruction.operands()) {
      if (operand->shape().IsArray()) type = operand->shape().element_type();
    }
    const double operations_a_ns = static_cast<double>(
        std::max<int64_t>(1, xla::gpu::GpuPerformanceModelBase::CalculatePeakMatrixOpsPerNs(
                                 device_, type)));
    const double computing =
        static_cast<double>(costs.flop_count(instruction)) / operations_a_ns * 1e-9;
    const double moving = static_cast<double>(costs.bytes_accessed(instruction)) /
                          static_cast<double>(std::max<int64_t>(1, device_.memory_bandwidth()));
    return kLaunchSeconds + std::max(computing, moving);
  }

  const stream_executor::DeviceDescription& device_;
  xla::gpu::GpuHloCostAnalysis::Options options_;
  xla::gpu::GpuPerformanceModelOwning model_;
  std::map<std::string, KernelTime> kernels_;
};

}  // namespace

absl::StatusOr<std::vector<KernelTime>> EstimateKernels(
    const xla::HloModule& module, const stream_executor::DeviceDescription& device) {
  Estimator estimator(device);
  absl::Status status;
  ForEachRun(module, [&](const xla::HloComputation& computation, double times) {
    if (status.ok()) status = estimator.Add(computation, times);
  });
  if (!status.ok()) return status;
  return estimator.Take();
}

}  // namespace hone::compiler::gpu
