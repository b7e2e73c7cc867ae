// This machine's code generator, as XLA's CPU passes ask for it: what its vector registers hold, and
// which dots and convolutions its kernels take as they are.
#ifndef HONE_COMPILER_PASSES_HOST_TARGET_H_
#define HONE_COMPILER_PASSES_HOST_TARGET_H_

#include <memory>

#include "absl/log/check.h"
#include "absl/status/statusor.h"
#include "xla/backends/cpu/codegen/target_machine_features.h"
#include "xla/backends/cpu/target_machine_options.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/service/hlo_module_config.h"

// The wheel exports the functions below, but the headers that declare them need LLVM's own. They
// are declared here again; nothing of LLVM's is read, so a stand-in of ample size does.
namespace llvm {
enum class CodeGenOptLevel : int { kDefault = 2 };
class TargetOptions {
 public:
  ~TargetOptions() {}  // not trivial, as LLVM's: it is returned through a hidden pointer

 private:
  alignas(16) char room_[4096];
};
}  // namespace llvm

namespace xla::cpu {
llvm::TargetOptions CompilerTargetOptions(const HloModuleConfig& config);
bool DotImplementationCanHandleTranspose(const HloInstruction& dot,
                                         const TargetMachineFeatures& features,
                                         bool allow_runtime_calls);
enum class DotImplementationStrategy { kNaiveLlvmIr, kTiledLlvmIrGemv, kTiledLlvmIrGemm, kEigen };
DotImplementationStrategy GetDotImplementationStrategy(const HloModuleConfig& config,
                                                       const HloInstruction& dot,
                                                       const TargetMachineFeatures& features,
                                                       bool allow_runtime_calls);
absl::StatusOr<bool> IsDotSupportedByYnn(const HloInstruction* dot);
bool IsConvolutionOpSupportedByYnn(const HloInstruction* convolution);
struct LibraryRewriterOptions {
  bool use_onednn = false;
  bool use_ynnpack = false;
  const google::protobuf::RepeatedField<int>* onednn_fusion_types = nullptr;
  const google::protobuf::RepeatedField<int>* ynn_fusion_types = nullptr;
};
class IrCompiler {
 public:
  static absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> InferTargetMachine(
      const llvm::TargetOptions& options, llvm::CodeGenOptLevel level,
      const TargetMachineOptions& machine);
};
}  // namespace xla::cpu

namespace hone::compiler {

// Made once and kept: passes hold a pointer to it.
inline const xla::cpu::TargetMachineFeatures* HostTarget() {
  static const auto* const features = [] {
    xla::HloModuleConfig config;
    const xla::DebugOptions debug_options = xla::GetDebugOptionsFromFlags();
    config.set_debug_options(debug_options);
    auto machine = xla::cpu::IrCompiler::InferTargetMachine(
        xla::cpu::CompilerTargetOptions(config), llvm::CodeGenOptLevel::kDefault,
        xla::cpu::TargetMachineOptions(debug_options));
    CHECK(machine.ok()) << machine.status();
    return new xla::cpu::TargetMachineFeatures(machine->release());
  }();
  return features;
}

// Whether the CPU compiler leaves this dot or convolution to YNNPACK or Eigen, as its own
// call_library_for_instruction in cpu_compiler.cc does under default flags.
inline bool LibraryTakes(const xla::HloInstruction& instruction) {
  if (instruction.opcode() == xla::HloOpcode::kConvolution) {
    return xla::cpu::IsConvolutionOpSupportedByYnn(&instruction);
  }
  if (instruction.opcode() != xla::HloOpcode::kDot) return false;
  return xla::cpu::GetDotImplementationStrategy(instruction.GetModule()->config(), instruction,
                                                *HostTarget(), /*allow_runtime_calls=*/true) ==
             xla::cpu::DotImplementationStrategy::kEigen &&
         xla::cpu::IsDotSupportedByYnn(&instruction).value_or(false);
}

// XLA's exported constructor of cpu::LibraryRewriter, whose header needs YNNPACK's and oneDNN's.
void ConstructLibraryRewriter(void* storage, const xla::cpu::TargetMachineFeatures* features,
                              const xla::cpu::LibraryRewriterOptions& options)
    asm("_ZN3xla3cpu15LibraryRewriterC2EPKNS0_21TargetMachineFeaturesERKNS0_22LibraryRewriterOptionsE");

inline std::unique_ptr<xla::HloPassInterface> NewLibraryRewriter() {
  static const auto* const debug_options = new xla::DebugOptions(xla::GetDebugOptionsFromFlags());
  xla::cpu::LibraryRewriterOptions options;
  options.use_ynnpack = true;
  options.ynn_fusion_types = &debug_options->xla_cpu_experimental_ynn_fusion_type();
  options.onednn_fusion_types = &debug_options->xla_cpu_experimental_onednn_fusion_type();
  void* const storage = ::operator new(1024);  // its size is below 300 bytes
  ConstructLibraryRewriter(storage, HostTarget(), options);
  return std::unique_ptr<xla::HloPassInterface>(static_cast<xla::HloPassInterface*>(storage));
}

}  // namespace hone::compiler

#endif  // HONE_COMPILER_PASSES_HOST_TARGET_H_
