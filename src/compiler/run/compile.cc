#include "compiler/run/compile.h"

#include <chrono>
#include <string>
#include <utility>

#include "compiler/fingerprint.h"
#include "compiler/pipelines/stock.h"
#include "compiler/run/execute.h"
#include "compiler/run/flags.h"
#include "compiler/sites/compile_decider.h"
#include "compiler/sites/keys.h"
#include "xla/hlo/ir/hlo_print_options.h"

namespace hone::compiler {

Fingerprint ExecutableFingerprint(const xla::HloModule& optimised, uint64_t hidden,
                                  const CompilePlan& plan) {
  Fingerprint fingerprint = DigestModule(optimised).fingerprint;
  const CompilePlan flags = CodeFlags(plan);
  if (hidden != 0 || !flags.empty()) {
    fingerprint.low = Mix(Mix(fingerprint.low, hidden), flags.Hash());
  }
  return fingerprint;
}

StatusOr<Compiled> CompileUnderPlan(const xla::HloModule& module, const CompilePlan& plan,
                                    const CompileOptions& options) {
  xla::DebugOptions flags;
  if (Status set = SetFlags(plan.flags, &flags); !set) return tl::unexpected(set.error());
  if (auto why = WhyNotRunnable(module)) {
    return MakeError(ErrorCode::kUnsupported, "it cannot be compiled for one CPU: " + *why);
  }
  const auto start = std::chrono::steady_clock::now();
  CompileDecider decider(plan, options);
  // LLVM's work does not matter here. Where there is nothing to decide or to note down, nothing is
  // observed: this is what observed compilations are held against.
  const bool observed = options.sites || !plan.empty();
  auto program =
      Program::Compile(module, CodeQuality::kQuickCompile, observed ? &decider : nullptr, plan);
  if (!program.ok()) {
    return MakeError(ErrorCode::kUnsupported,
                     "XLA:CPU does not compile it: " + std::string(program.status().message()));
  }
  auto optimised = program->Optimised();
  if (!optimised.ok()) {
    return MakeError(ErrorCode::kUnsupported, std::string(optimised.status().message()));
  }
  Compiled compiled;
  compiled.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  compiled.fingerprint = ExecutableFingerprint(**optimised, decider.hidden(), plan);
  compiled.instructions = (*optimised)->instruction_count();
  compiled.applied = decider.applied();
  compiled.sites = decider.TakeSites();
  if (options.sites) {
    compiled.flag_choices = TunableFlags(options.fast_math);
    if (auto passes = RecordStockPasses(module)) {
      for (FlagChoices& flag : PassesToLeaveOut(*passes)) {
        compiled.flag_choices.push_back(std::move(flag));
      }
    }
  }
  if (options.text) {
    compiled.text = (*optimised)->ToString(xla::HloPrintOptions().set_print_large_constants(true));
  }
  return compiled;
}

}  // namespace hone::compiler
