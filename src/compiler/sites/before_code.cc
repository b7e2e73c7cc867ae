#include "compiler/sites/before_code.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/fingerprint.h"
#include "compiler/sites/pipeline_intercept.h"
#include "compiler/sites/real.h"
#include "xla/service/compiler.h"

namespace hone::compiler {
namespace {

thread_local const BeforeCode* listener = nullptr;
thread_local ScopedPasses* scoped_passes = nullptr;
constexpr char kEnded[] = "hone ended it before code was made";

}  // namespace

ScopedBeforeCode::ScopedBeforeCode(const BeforeCode& told) { listener = &told; }
ScopedBeforeCode::~ScopedBeforeCode() { listener = nullptr; }

bool IsEndedBeforeCode(const absl::Status& status) {
  return absl::IsCancelled(status) && status.message().find(kEnded) != absl::string_view::npos;
}

bool IsLookedAtBeforeCode() { return listener != nullptr; }

ScopedPasses::ScopedPasses(std::unique_ptr<xla::HloModule> optimised, bool to_be_named)
    : known(std::move(optimised)), named(to_be_named) {
  scoped_passes = this;
}
ScopedPasses::~ScopedPasses() { scoped_passes = nullptr; }

}  // namespace hone::compiler

// xla::cpu::CpuCompiler::RunHloPasses, taken over as pipeline_intercept.cc takes over functions of
// such classes.
extern "C" absl::StatusOr<std::unique_ptr<xla::HloModule>>
_ZN3xla3cpu11CpuCompiler12RunHloPassesESt10unique_ptrINS_9HloModuleESt14default_deleteIS3_EEPN15stream_executor14StreamExecutorERKNS_8Compiler14CompileOptionsE(
    void* compiler, std::unique_ptr<xla::HloModule> module,
    stream_executor::StreamExecutor* executor, const xla::Compiler::CompileOptions& options) {
  using RunHloPasses = absl::StatusOr<std::unique_ptr<xla::HloModule>> (*)(
      void*, std::unique_ptr<xla::HloModule>, stream_executor::StreamExecutor*,
      const xla::Compiler::CompileOptions&);
  static const auto real = hone::compiler::Real<RunHloPasses>(__func__);
  using hone::compiler::listener;
  using hone::compiler::scoped_passes;
  bool stored = false;
  if (scoped_passes != nullptr && scoped_passes->known == nullptr && scoped_passes->make_known) {
    scoped_passes->known = scoped_passes->make_known(module->config());
    stored = scoped_passes->known != nullptr;
  }
  const bool known = scoped_passes != nullptr && scoped_passes->known != nullptr;
  absl::StatusOr<std::unique_ptr<xla::HloModule>> optimised =
      known ? std::move(scoped_passes->known)
            : real(compiler, std::move(module), executor, options);
  hone::compiler::PipelineObserver* const observer = hone::compiler::CurrentPipelineObserver();
  if (observer != nullptr && optimised.ok() && !known) observer->Kernels(**optimised);
  if (listener != nullptr && optimised.ok() && !(*listener)(**optimised)) {
    if (scoped_passes != nullptr) scoped_passes->ended = *std::move(optimised);
    return absl::CancelledError(hone::compiler::kEnded);
  }
  if (scoped_passes != nullptr && scoped_passes->named && optimised.ok()) {
    scoped_passes->fingerprint = hone::compiler::DigestModule(**optimised).fingerprint;
  }
  if (scoped_passes != nullptr && scoped_passes->made && optimised.ok() && !stored) {
    scoped_passes->made(**optimised);
  }
  return optimised;
}
