// Where the stock XLA:GPU pipeline decides between ways to compile: the functions in which it does,
// taken over as in sites/pipeline_intercept.cc.
#include "compiler/sites/pipeline_intercept.h"

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "compiler/sites/real.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/gpu/gpu_fusible.h"
#include "xla/service/gpu/model/gpu_performance_model.h"
#include "xla/service/instruction_fusion.h"
#include "xla/service/layout_assignment.h"

namespace hone::compiler {
namespace {

// The fusion pass that runs on this thread: its functions serve others too.
enum class FusionPass { kNone, kPriority, kMultiOutput };
thread_local FusionPass running = FusionPass::kNone;

// PriorityFusion fuses a producer where its estimate of the fused time is lower, the one that gains
// most first, and adds up what fusing a neighbour changes of it: so this is far beyond all
// estimates, and not infinite.
constexpr absl::Duration kBeyondEstimates = absl::Hours(1);

using Threads = absl::flat_hash_set<absl::string_view>;
using RunImpl = absl::StatusOr<bool> (*)(void*, xla::HloModule*, const Threads&);
using RunTimes = xla::gpu::GpuPerformanceModelBase::RunTimes;

// A fusion pass's own RunImpl, observed.
absl::StatusOr<bool> Run(FusionPass which, RunImpl real, void* pass, xla::HloModule* module,
                         const Threads& threads) {
  if (PipelineObserver* const observer = CurrentPipelineObserver()) observer->FusionBegins(*module);
  running = which;
  absl::StatusOr<bool> changed = real(pass, module, threads);
  running = FusionPass::kNone;
  return changed;
}

PipelineObserver* ObserverOf(FusionPass pass) {
  return running == pass ? CurrentPipelineObserver() : nullptr;
}

FusionSeconds SecondsOf(const RunTimes& times) {
  return {absl::ToDoubleSeconds(times.time_fused), absl::ToDoubleSeconds(times.time_unfused)};
}

}  // namespace
}  // namespace hone::compiler

using hone::compiler::CurrentPipelineObserver;
using hone::compiler::FusionPass;
using hone::compiler::FusionSeconds;
using hone::compiler::FusionWish;
using hone::compiler::ObserverOf;
using hone::compiler::PipelineObserver;
using hone::compiler::Real;
using hone::compiler::Run;
using hone::compiler::RunImpl;
using hone::compiler::RunTimes;
using hone::compiler::SecondsOf;
using hone::compiler::Threads;

// xla::gpu::PriorityFusion::RunImpl
extern "C" absl::StatusOr<bool>
_ZN3xla3gpu14PriorityFusion7RunImplEPNS_9HloModuleERKN4absl12lts_2025081413flat_hash_setISt17basic_string_viewIcSt11char_traitsIcEENS5_18container_internal10StringHashENSB_8StringEqESaISA_EEE(
    void* pass, xla::HloModule* module, const Threads& threads) {
  static const auto real = Real<RunImpl>(__func__);
  return Run(FusionPass::kPriority, real, pass, module, threads);
}

// xla::gpu::PriorityFusion::Fuse
extern "C" xla::HloInstruction* _ZN3xla3gpu14PriorityFusion4FuseEPNS_14HloInstructionES3_b(
    void* pass, xla::HloInstruction* producer, xla::HloInstruction* consumer, bool multi_output) {
  static const auto real =
      Real<xla::HloInstruction* (*)(void*, xla::HloInstruction*, xla::HloInstruction*, bool)>(
          __func__);
  PipelineObserver* const observer = ObserverOf(FusionPass::kPriority);
  if (observer != nullptr) observer->FusesInto(*consumer);
  xla::HloInstruction* const fusion = real(pass, producer, consumer, multi_output);
  if (observer != nullptr) observer->Fused(*fusion);
  return fusion;
}

// xla::gpu::MultiOutputFusion::RunImpl
extern "C" absl::StatusOr<bool>
_ZN3xla3gpu17MultiOutputFusion7RunImplEPNS_9HloModuleERKN4absl12lts_2025081413flat_hash_setISt17basic_string_viewIcSt11char_traitsIcEENS5_18container_internal10StringHashENSB_8StringEqESaISA_EEE(
    void* pass, xla::HloModule* module, const Threads& threads) {
  static const auto real = Real<RunImpl>(__func__);
  return Run(FusionPass::kMultiOutput, real, pass, module, threads);
}

// xla::gpu::GpuLayoutAssignment::AddBackendConstraints
extern "C" absl::Status
_ZN3xla3gpu19GpuLayoutAssignment21AddBackendConstraintsEPNS_16LayoutAssignment17LayoutConstraintsE(
    xla::LayoutAssignment* assignment, xla::LayoutAssignment::LayoutConstraints* constraints) {
  static const auto real =
      Real<absl::Status (*)(xla::LayoutAssignment*, xla::LayoutAssignment::LayoutConstraints*)>(
          __func__);
  if (PipelineObserver* const observer = CurrentPipelineObserver()) {
    observer->Layouts(*assignment, *constraints->computation());
  }
  return real(assignment, constraints);
}

namespace xla::gpu {

// Asked for the gain of fusing a producer into its users.
RunTimes GpuPerformanceModel::EstimateRunTimes(const HloInstruction* producer,
                                               const GpuHloCostAnalysis* costs,
                                               absl::Span<const HloInstruction* const> consumers) {
  static const auto real =
      Real<RunTimes (*)(GpuPerformanceModel*, const HloInstruction*, const GpuHloCostAnalysis*,
                        absl::Span<const HloInstruction* const>)>(
          "_ZN3xla3gpu19GpuPerformanceModel16EstimateRunTimesEPKNS_14HloInstructionEPKNS0_"
          "18GpuHloCostAnalysisEN4absl12lts_202508144SpanIKS4_EE");
  RunTimes times = real(this, producer, costs, consumers);
  PipelineObserver* const observer = ObserverOf(FusionPass::kPriority);
  if (observer == nullptr) return times;
  switch (observer->FuseIntoUsers(*producer, SecondsOf(times))) {
    case FusionWish::kStock:
      break;
    case FusionWish::kFuse:
      times.time_unfused += hone::compiler::kBeyondEstimates;
      break;
    case FusionWish::kKeep:
      times.time_fused += hone::compiler::kBeyondEstimates;
      break;
  }
  return times;
}

// Asked whether a producer becomes another result of its consumer.
RunTimes GpuPerformanceModel::EstimateRunTimesForMultiOutputFusion(
    const HloInstruction* producer, const HloInstruction* consumer,
    const GpuHloCostAnalysis* costs) {
  static const auto real = Real<RunTimes (*)(GpuPerformanceModel*, const HloInstruction*,
                                             const HloInstruction*, const GpuHloCostAnalysis*)>(
      "_ZN3xla3gpu19GpuPerformanceModel36EstimateRunTimesForMultiOutputFusionEPKNS_"
      "14HloInstructionES4_PKNS0_18GpuHloCostAnalysisE");
  RunTimes times = real(this, producer, consumer, costs);
  PipelineObserver* const observer = ObserverOf(FusionPass::kMultiOutput);
  if (observer == nullptr) return times;
  const bool stock = times.time_fused <= times.time_unfused;
  const FusionSeconds seconds = SecondsOf(times);
  const bool fuse = observer->FuseTogether(*producer, *consumer, stock, &seconds);
  if (fuse == stock) return times;
  (fuse ? times.time_unfused : times.time_fused) += hone::compiler::kBeyondEstimates;
  return times;
}

// Asked of siblings, that read the same, whether one kernel can do both.
FusionDecision FusionFitsInBudget(const HloInstruction& a, const HloInstruction& b,
                                  const stream_executor::DeviceDescription& device,
                                  bool is_consumer_producer_fusion, FusionInfoCache* cache) {
  static const auto real =
      Real<FusionDecision (*)(const HloInstruction&, const HloInstruction&,
                              const stream_executor::DeviceDescription&, bool, FusionInfoCache*)>(
          "_ZN3xla3gpu18FusionFitsInBudgetERKNS_14HloInstructionES3_RKN15stream_executor17"
          "DeviceDescriptionEbPNS0_15FusionInfoCacheE");
  FusionDecision fits = real(a, b, device, is_consumer_producer_fusion, cache);
  PipelineObserver* const observer = ObserverOf(FusionPass::kMultiOutput);
  if (observer == nullptr || is_consumer_producer_fusion || !fits) return fits;
  return observer->FuseTogether(a, b, /*stock=*/true, nullptr)
             ? fits
             : FusionDecision::Forbid("a plan keeps them apart");
}

}  // namespace xla::gpu
