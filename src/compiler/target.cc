#include "compiler/target.h"

#include <utility>

#include "xla/service/compiler.h"
#include "xla/service/platform_util.h"
#include "xla/stream_executor/platform.h"
#include "xla/stream_executor/stream_executor.h"

namespace hone::compiler {
namespace {

class CpuTarget : public Target {
 public:
  std::string name() const override { return "cpu"; }
  std::string wheel() const override { return "tensorflow-cpu"; }
  std::vector<PassEntry> Passes() const override { return CpuPasses(); }
  std::vector<ExcludedPass> Excluded() const override { return ExcludedFromCpuPasses(); }

  absl::StatusOr<std::unique_ptr<xla::HloModule>> Optimise(
      std::unique_ptr<xla::HloModule> module) const override {
    const auto platform = xla::PlatformUtil::GetPlatform("cpu");
    if (!platform.ok()) return platform.status();
    const auto compiler = xla::Compiler::GetForPlatform((*platform)->id());
    if (!compiler.ok()) return compiler.status();
    const auto executor = (*platform)->ExecutorForDevice(0);
    if (!executor.ok()) return executor.status();
    return (*compiler)->RunHloPasses(std::move(module), *executor,
                                     xla::Compiler::CompileOptions{});
  }

  void Estimate(const xla::HloModule&, Metrics&) const override {}
};

std::unique_ptr<Target>& Current() {
  static auto* const target = new std::unique_ptr<Target>(std::make_unique<CpuTarget>());
  return *target;
}

}  // namespace

const Target& TheTarget() { return *Current(); }

Status SetTarget(const std::string& target) {
  if (target == "cpu") return {};
  StatusOr<std::unique_ptr<Target>> made = MakeGpuTarget(target);
  if (!made) return tl::unexpected(made.error());
  Current() = *std::move(made);
  return {};
}

}  // namespace hone::compiler
