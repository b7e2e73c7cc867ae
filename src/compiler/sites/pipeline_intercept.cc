#include "compiler/sites/pipeline_intercept.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/sites/real.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/cpu/cpu_instruction_fusion.h"

namespace hone::compiler {
namespace {

thread_local PipelineObserver* observer = nullptr;

}  // namespace

ScopedPipelineObserver::ScopedPipelineObserver(PipelineObserver* wanted) { observer = wanted; }
ScopedPipelineObserver::~ScopedPipelineObserver() { observer = nullptr; }

PipelineObserver* CurrentPipelineObserver() { return observer; }

}  // namespace hone::compiler

using hone::compiler::observer;
using hone::compiler::Real;

// Classes whose headers need LLVM's are taken over by functions of C: their first parameter is the
// object, and nothing else differs in the Itanium C++ ABI.

// xla::cpu::ParallelTaskAssignment::GetTargetParallelTaskCount
extern "C" int64_t _ZN3xla3cpu22ParallelTaskAssignment26GetTargetParallelTaskCountEPNS_14HloInstructionE(
    void* assignment, xla::HloInstruction* instruction) {
  static const auto real = Real<int64_t (*)(void*, xla::HloInstruction*)>(__func__);
  const int64_t stock = real(assignment, instruction);
  return observer == nullptr ? stock : observer->Partitions(*instruction, stock);
}

// xla::cpu::GetDotImplementationStrategy
extern "C" int
_ZN3xla3cpu28GetDotImplementationStrategyERKNS_15HloModuleConfigERKNS_14HloInstructionERKNS0_21TargetMachineFeaturesEb(
    const xla::HloModuleConfig& config, const xla::HloInstruction& dot, const void* machine,
    bool runtime_calls) {
  static const auto real = Real<int (*)(const xla::HloModuleConfig&, const xla::HloInstruction&,
                                        const void*, bool)>(__func__);
  const int stock = real(config, dot, machine, runtime_calls);
  if (observer == nullptr || !runtime_calls) return stock;
  return static_cast<int>(
      observer->Strategy(dot, static_cast<hone::compiler::DotStrategy>(stock)));
}

// xla::cpu::IsDotSupportedByYnn
extern "C" absl::StatusOr<bool>
_ZN3xla3cpu19IsDotSupportedByYnnERKNS_19DotDimensionNumbersERKNS_5ShapeES6_S6_(
    const xla::DotDimensionNumbers& numbers, const xla::Shape& left, const xla::Shape& right,
    const xla::Shape& result) {
  static const auto real = Real<absl::StatusOr<bool> (*)(const xla::DotDimensionNumbers&, const xla::Shape&,
                                           const xla::Shape&, const xla::Shape&)>(__func__);
  const absl::StatusOr<bool> stock = real(numbers, left, right, result);
  if (observer == nullptr || !stock.ok() || !*stock) return stock;
  return observer->DotByLibrary(numbers, left, right, result);
}

// xla::cpu::IsConvolutionOpSupportedByYnn
extern "C" bool _ZN3xla3cpu29IsConvolutionOpSupportedByYnnEPKNS_14HloInstructionE(
    const xla::HloInstruction* convolution) {
  static const auto real = Real<bool (*)(const xla::HloInstruction*)>(__func__);
  const bool stock = real(convolution);
  return observer == nullptr || !stock ? stock : observer->ByLibrary(*convolution, true);
}

// xla::cpu::IsReduceOpOffloadedToYnn
extern "C" bool _ZN3xla3cpu24IsReduceOpOffloadedToYnnEPKNS_14HloInstructionE(
    const xla::HloInstruction* reduce) {
  static const auto real = Real<bool (*)(const xla::HloInstruction*)>(__func__);
  const bool stock = real(reduce);
  return observer == nullptr || !stock ? stock : observer->ByLibrary(*reduce, true);
}

// xla::cpu::IsReduceOpSupportedByYnn
extern "C" bool _ZN3xla3cpu24IsReduceOpSupportedByYnnEPKNS_14HloInstructionE(
    const xla::HloInstruction* reduce) {
  static const auto real = Real<bool (*)(const xla::HloInstruction*)>(__func__);
  const bool stock = real(reduce);
  return observer == nullptr || !stock ? stock : observer->ByLibrary(*reduce, false);
}

// xla::cpu::CpuLayoutAssignment::AddBackendConstraints
extern "C" absl::Status
_ZN3xla3cpu19CpuLayoutAssignment21AddBackendConstraintsEPNS_16LayoutAssignment17LayoutConstraintsE(
    xla::LayoutAssignment* assignment, xla::LayoutAssignment::LayoutConstraints* constraints) {
  static const auto real =
      Real<absl::Status (*)(xla::LayoutAssignment*, xla::LayoutAssignment::LayoutConstraints*)>(
          __func__);
  if (observer != nullptr) observer->Layouts(*assignment, *constraints->computation());
  return real(assignment, constraints);
}

namespace xla::cpu {

// Called first thing by RunImpl.
void CpuInstructionFusion::ComputeInstructionsToSkip(
    HloModule* module, const absl::flat_hash_set<absl::string_view>& threads) {
  static const auto real =
      Real<void (*)(CpuInstructionFusion*, HloModule*,
                    const absl::flat_hash_set<absl::string_view>&)>(
          "_ZN3xla3cpu20CpuInstructionFusion25ComputeInstructionsToSkipEPNS_9HloModuleERKN4absl12lts_"
          "2025081413flat_hash_setISt17basic_string_viewIcSt11char_traitsIcEENS5_18container_"
          "internal10StringHashENSB_8StringEqESaISA_EEE");
  if (observer != nullptr) observer->FusionBegins(*module);
  real(this, module, threads);
}

HloInstruction* CpuInstructionFusion::FuseInstruction(HloInstruction* fusion,
                                                      HloInstruction* producer) {
  static const auto real =
      Real<HloInstruction* (*)(CpuInstructionFusion*, HloInstruction*, HloInstruction*)>(
          "_ZN3xla3cpu20CpuInstructionFusion15FuseInstructionEPNS_14HloInstructionES3_");
  if (observer != nullptr) observer->Fused(*fusion);
  return real(this, fusion, producer);
}

}  // namespace xla::cpu
