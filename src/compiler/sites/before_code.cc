#include "compiler/sites/before_code.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/sites/real.h"
#include "xla/service/compiler.h"
#include "xla/service/executable.h"

namespace hone::compiler {
namespace {

thread_local const BeforeCode* listener = nullptr;
constexpr char kEnded[] = "hone ended it before code was made";

}  // namespace

ScopedBeforeCode::ScopedBeforeCode(const BeforeCode& told) { listener = &told; }
ScopedBeforeCode::~ScopedBeforeCode() { listener = nullptr; }

bool IsEndedBeforeCode(const absl::Status& status) {
  return absl::IsCancelled(status) && status.message().find(kEnded) != absl::string_view::npos;
}

}  // namespace hone::compiler

// xla::cpu::CpuCompiler::RunBackend, as pipeline_intercept.cc takes over functions of such classes.
extern "C" absl::StatusOr<std::unique_ptr<xla::Executable>>
_ZN3xla3cpu11CpuCompiler10RunBackendESt10unique_ptrINS_9HloModuleESt14default_deleteIS3_EEPN15stream_executor14StreamExecutorERKNS_8Compiler14CompileOptionsE(
    void* compiler, std::unique_ptr<xla::HloModule> module,
    stream_executor::StreamExecutor* executor, const xla::Compiler::CompileOptions& options) {
  using RunBackend = absl::StatusOr<std::unique_ptr<xla::Executable>> (*)(
      void*, std::unique_ptr<xla::HloModule>, stream_executor::StreamExecutor*,
      const xla::Compiler::CompileOptions&);
  static const auto real = hone::compiler::Real<RunBackend>(__func__);
  using hone::compiler::listener;
  if (listener != nullptr && !(*listener)(*module)) {
    return absl::CancelledError(hone::compiler::kEnded);
  }
  return real(compiler, std::move(module), executor, options);
}
