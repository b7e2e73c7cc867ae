#include "compiler/gpu/estimate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "compiler/gpu/mlir_context.h"
#include "compiler/launches.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/service/gpu/model/gpu_hlo_cost_analysis.h"
#include "xla/service/gpu/model/gpu_performance_model.h"
#include "xla/service/gpu/reduction_utils.h"
#include "xla/service/scatter_simplifier.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler::gpu {

// XLA's exported members of gpu::GpuPerformanceModelWithIndexingAnalysis, whose header needs LLVM's
// and MLIR's.
// clang-format off
void ConstructTiledModel(void* model, const stream_executor::DeviceDescription* device,
                         xla::gpu::HloFusionAnalysisCache* analyses,
                         std::function<int64_t(const xla::Shape&)> shape_size,
                         mlir::MLIRContext* context)
    asm("_ZN3xla3gpu39GpuPerformanceModelWithIndexingAnalysisC2EPKN15stream_executor17Device"
        "DescriptionEPNS0_22HloFusionAnalysisCacheESt8functionIFlRKNS_5ShapeEEEPN4mlir11"
        "MLIRContextE");
void DestroyTiledModel(void* model)
    asm("_ZN3xla3gpu39GpuPerformanceModelWithIndexingAnalysisD2Ev");
absl::StatusOr<xla::gpu::EstimateRunTimeData> EstimateTriton(void* model,
                                                             const xla::HloInstruction* fusion,
                                                             const xla::HloInstruction* consumer)
    asm("_ZN3xla3gpu39GpuPerformanceModelWithIndexingAnalysis24EstimateRunTimeForTritonEPKNS_14"
        "HloInstructionES4_");
// clang-format on

namespace {

// XLA's model of kernels that Triton makes tile by tile.
class TiledModel {
 public:
  explicit TiledModel(const stream_executor::DeviceDescription& device)
      : analyses_(device), storage_(::operator new (size_t{1} << 16)) {  // its size is below 2 KiB
    ConstructTiledModel(
        storage_, &device, &analyses_,
        [](const xla::Shape& shape) { return xla::ShapeUtil::ByteSizeOf(shape, sizeof(void*)); },
        MlirContext());
  }
  ~TiledModel() {
    DestroyTiledModel(storage_);
    ::operator delete(storage_);
  }
  TiledModel(const TiledModel&) = delete;
  TiledModel& operator=(const TiledModel&) = delete;

  absl::StatusOr<xla::gpu::EstimateRunTimeData> Estimate(const xla::HloInstruction& fusion) {
    return EstimateTriton(storage_, &fusion, nullptr);
  }

 private:
  xla::gpu::HloFusionAnalysisCache analyses_;
  void* const storage_;
};

using xla::HloInstruction;
using xla::HloOpcode;

constexpr absl::string_view kTriton = "\"kind\":\"__triton\"";
constexpr double kLaunchSeconds = 1e-6;  // GpuPerformanceModelBase::kKernelLaunchOverhead
// Of a multiprocessor: words that it loads for each that it multiplies and adds, 32 and 128 a cycle (NVIDIA
// H100 whitepaper, figure 7). A dot's loop loads two words for each.
constexpr double kLoopDotShare = 32.0 / 128 / 2;

class Estimator {
 public:
  Estimator(const stream_executor::DeviceDescription& device, bool optimised)
      : device_(device), optimised_(optimised), model_(device, MlirContext()), tiled_(device) {
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
  // XLA's model takes reduces and scatters for such as its emitters take, and ends the process
  // where TreeReductionRewriter has not yet split, or ScatterSimplifier not yet simplified, the
  // others.
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
    if (instruction.IsCustomFusion()) return OfCustomFusion(instruction, costs);
    switch (instruction.opcode()) {
      case HloOpcode::kCustomCall:
        return Roofline(instruction, costs);
      case HloOpcode::kDot:
      case HloOpcode::kConvolution:
        // Before the pipeline's end it is still to be a library's.
        return optimised_ ? OfLoop(instruction, costs) : Roofline(instruction, costs);
      default:
        return OfLoop(instruction, costs);
    }
  }

  double OfLoop(const HloInstruction& instruction, const xla::gpu::GpuHloCostAnalysis& costs) {
    const double by_model = absl::ToDoubleSeconds(
        model_.Get().EstimateRunTimeForInstruction(&instruction, &costs).exec_time);
    return kLaunchSeconds + std::max(by_model, optimised_ ? OfDots(instruction) : 0);
  }

  // XLA's model has a dot's loop multiply at the machine's peak: it knows no better of operands that every
  // element of the result reads again.
  double OfDots(const HloInstruction& instruction) const {
    double operations = 0;
    const auto add = [&](const HloInstruction& one) {
      if (one.opcode() == HloOpcode::kDot) {
        operations += static_cast<double>(xla::HloCostAnalysis::GetDotFlops(
            one.operand(0)->shape(), one.shape(), one.dot_dimension_numbers()));
      } else if (one.opcode() == HloOpcode::kConvolution) {
        operations += static_cast<double>(xla::HloCostAnalysis::GetConvolutionFlops(
            &one, one.operand(0)->shape(), one.operand(1)->shape(), one.shape()));
      }
    };
    if (instruction.opcode() == HloOpcode::kFusion) {
      for (const HloInstruction* fused : instruction.fused_instructions()) add(*fused);
    } else {
      add(instruction);
    }
    const double peak = 2.0 * device_.core_count() * device_.fpus_per_core() *
                        std::max(1e-3, static_cast<double>(device_.clock_rate_ghz())) * 1e9;
    return operations / (kLoopDotShare * peak);
  }

  // The model for loops thinks of each element of Triton's tiles as computed from its operands on.
  double OfCustomFusion(const HloInstruction& fusion, const xla::gpu::GpuHloCostAnalysis& costs) {
    if (absl::StrContains(fusion.raw_backend_config_string(), kTriton)) {
      if (const auto time = tiled_.Estimate(fusion); time.ok()) {
        return kLaunchSeconds + absl::ToDoubleSeconds(time->exec_time);
      }
    }
    return Roofline(fusion, costs);
  }

  // What libraries compute, at the machine's peak.
  double Roofline(const HloInstruction& instruction, const xla::gpu::GpuHloCostAnalysis& costs) {
    xla::PrimitiveType type = xla::F32;
    for (const HloInstruction* operand : instruction.operands()) {
      if (operand->shape().IsArray()) type = operand->shape().element_type();
    }
    const double operations_a_ns = static_cast<double>(std::max<int64_t>(
        1, xla::gpu::GpuPerformanceModelBase::CalculatePeakMatrixOpsPerNs(device_, type)));
    const double computing =
        static_cast<double>(costs.flop_count(instruction)) / operations_a_ns * 1e-9;
    const double moving = static_cast<double>(costs.bytes_accessed(instruction)) /
                          static_cast<double>(std::max<int64_t>(1, device_.memory_bandwidth()));
    return kLaunchSeconds + std::max(computing, moving);
  }

  const stream_executor::DeviceDescription& device_;
  const bool optimised_;
  xla::gpu::GpuHloCostAnalysis::Options options_;
  xla::gpu::GpuPerformanceModelOwning model_;
  TiledModel tiled_;
  std::map<std::string, KernelTime> kernels_;
};

}  // namespace

absl::StatusOr<std::vector<KernelTime>> EstimateKernels(
    const xla::HloModule& module, const stream_executor::DeviceDescription& device,
    bool optimised) {
  Estimator estimator(device, optimised);
  absl::Status status;
  ForEachRun(module, [&](const xla::HloComputation& computation, double times) {
    if (status.ok()) status = estimator.Add(computation, times);
  });
  if (!status.ok()) return status;
  return estimator.Take();
}

}  // namespace hone::compiler::gpu
