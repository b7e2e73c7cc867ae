#include "compiler/gpu/ptx.h"

#include <dlfcn.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "compiler/custom_calls/custom_calls.h"
#include "compiler/sites/real.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/service/executable.h"
#include "xla/stream_executor/device_description.h"
#include "xla/xla.pb.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace hone::compiler::gpu {
namespace {

// Where the next PTX goes that XLA generates. It is generated on threads of XLA's own, too.
std::string* wanted = nullptr;

constexpr char kTaken[] = "hone has taken the PTX";

// JAX lowers linear algebra to other calls for a GPU than for the processor: a program of the latter has kernels for
// all else.
void StandInForCalls(const xla::HloModule& module) {
  for (const xla::HloComputation* computation : module.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      const auto* const call = xla::DynCast<xla::HloCustomCallInstruction>(instruction);
      if (call != nullptr && call->api_version() == xla::CustomCallApiVersion::API_VERSION_TYPED_FFI) {
        RegisterStandIn(call->custom_call_target());
      }
    }
  }
}

}  // namespace

// XLA's xla::gpu::nvptx::CompileToPtx, whose header needs LLVM's; taken over, so that nothing assembles and
// loads what it returns.
// clang-format off
#define HONE_COMPILE_TO_PTX                                                                     \
  "_ZN3xla3gpu5nvptx12CompileToPtxB5cxx11EPN4llvm6ModuleEN15stream_executor20GpuCompute"        \
  "CapabilityERKNS_12DebugOptionsESt8functionIFvPNS2_13TargetMachineEEE"
// clang-format on
absl::StatusOr<std::string> CompileToPtx(llvm::Module* module,
                                         stream_executor::GpuComputeCapability capability,
                                         const xla::DebugOptions& flags,
                                         std::function<void(llvm::TargetMachine*)> configure)
    asm(HONE_COMPILE_TO_PTX);

absl::StatusOr<std::string> CompileToPtx(llvm::Module* module,
                                         stream_executor::GpuComputeCapability capability,
                                         const xla::DebugOptions& flags,
                                         std::function<void(llvm::TargetMachine*)> configure) {
  static const auto real = Real<decltype(&CompileToPtx)>(HONE_COMPILE_TO_PTX);
  absl::StatusOr<std::string> ptx = real(module, std::move(capability), flags, std::move(configure));
  if (wanted == nullptr || !ptx.ok()) return ptx;
  *wanted += *ptx;
  return absl::CancelledError(kTaken);
}

std::string LibdeviceFolder() {
  Dl_info here;
  // Of XLA's libraries: a function of theirs.
  void* const theirs = dlsym(RTLD_NEXT, HONE_COMPILE_TO_PTX);
  if (theirs == nullptr || dladdr(theirs, &here) == 0) return "";
  return (std::filesystem::path(here.dli_fname).parent_path() / "cuda").string();
}

absl::StatusOr<std::string> GeneratePtx(xla::Compiler& compiler,
                                        std::unique_ptr<xla::HloModule> optimised,
                                        const xla::Compiler::CompileOptions& options) {
  xla::DebugOptions flags = optimised->config().debug_options();
  flags.set_xla_gpu_cuda_data_dir(LibdeviceFolder());
  // Else XLA wants an assembler before it generates anything.
  flags.set_xla_gpu_unsafe_fallback_to_driver_on_ptxas_not_found(true);
  flags.set_xla_gpu_force_compilation_parallelism(1);
  flags.set_xla_gpu_enable_llvm_module_compilation_parallelism(false);
  optimised->mutable_config().set_debug_options(flags);
  StandInForCalls(*optimised);
  std::string ptx;
  wanted = &ptx;
  const auto made = compiler.RunBackend(std::move(optimised), nullptr, options);
  wanted = nullptr;
  // A module without kernels of XLA's own needs no code.
  if (made.ok() || (absl::IsCancelled(made.status()) && absl::StrContains(made.status().message(), kTaken))) {
    return ptx;
  }
  if (absl::StrContains(made.status().message(), "libdevice")) {
    return absl::FailedPreconditionError(
        "it calls functions of NVIDIA's libdevice, which `setup/install --ptxas` fetches");
  }
  return made.status();
}

}  // namespace hone::compiler::gpu
