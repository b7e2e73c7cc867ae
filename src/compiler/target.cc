#include "compiler/target.h"

#include <utility>

#include "compiler/run/flags.h"
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

  bool is_here() const override { return true; }
  absl::StatusOr<std::vector<KernelTime>> EstimateKernels(const xla::HloModule&,
                                                          bool) const override {
    return absl::UnimplementedError("XLA has no model of CPUs' run time");
  }
  absl::Status MakePlain(xla::HloModule&) const override { return absl::OkStatus(); }
  absl::StatusOr<std::string> Assembly(std::unique_ptr<xla::HloModule>) const override {
    return absl::UnimplementedError("assembly is made for GPUs alone: --target h100, say");
  }
  std::vector<FlagChoices> FlagsToTry(const std::vector<StockPass>& passes,
                                      bool fast_math) const override {
    std::vector<FlagChoices> flags = TunableFlags(fast_math);
    for (FlagChoices& flag : PassesToLeaveOut(passes, MayBeLeftOut)) flags.push_back(std::move(flag));
    return flags;
  }
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
