#include "compiler/run/compile.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/fingerprint.h"
#include "compiler/pipelines/stock.h"
#include "compiler/run/execute.h"
#include "compiler/run/flags.h"
#include "compiler/sites/before_code.h"
#include "compiler/sites/compile_decider.h"
#include "compiler/sites/keys.h"
#include "compiler/target.h"
#include "xla/hlo/ir/hlo_print_options.h"

namespace hone::compiler {
namespace {

// Of a module and what it does not show.
Fingerprint With(Fingerprint fingerprint, uint64_t hidden, const CompilePlan& plan) {
  const CompilePlan flags = CodeFlags(plan);
  if (hidden != 0 || !flags.empty()) {
    fingerprint.low = Mix(Mix(fingerprint.low, hidden), flags.Hash());
  }
  return fingerprint;
}

}  // namespace

Fingerprint ExecutableFingerprint(const xla::HloModule& optimised, uint64_t hidden,
                                  const CompilePlan& plan) {
  return With(DigestModule(optimised).fingerprint, hidden, plan);
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
  // Where there is nothing to decide or to note down, nothing is observed: this is what observed
  // compilations are held against.
  const bool observed = options.sites || !plan.empty();
  const bool code = options.code || options.sites;  // some sites are met while code is made
  Compiled compiled;
  std::vector<StockPass> passes;
  const auto note = [&](const xla::HloModule& optimised) {
    compiled.instructions = optimised.instruction_count();
    if (options.text) {
      compiled.text = optimised.ToString(xla::HloPrintOptions().set_print_large_constants(true));
    }
  };
  // It is named as it is before code is made, where that goes on from there or not, or was done
  // long ago: making code changes it once more.
  const BeforeCode before_code = [&](const xla::HloModule& optimised) {
    if (!code) compiled.fingerprint = DigestModule(optimised).fingerprint;
    if (options.sites) passes = PassesThatRan(optimised);
    if (!code) note(optimised);
    return code;
  };
  std::optional<ScopedBeforeCode> scope(std::in_place, before_code);
  // What sites are listed of is going to be raced, and what is ended here may be; of others LLVM's
  // work does not matter here.
  const CodeQuality quality =
      options.sites || !code ? CodeQuality::kStock : CodeQuality::kQuickCompile;
  auto program = Program::Compile(module, quality, observed ? &decider : nullptr, plan);
  scope.reset();
  compiled.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!program.ok() && !IsEndedBeforeCode(program.status())) {
    return MakeError(ErrorCode::kUnsupported,
                     "XLA:CPU does not compile it: " + std::string(program.status().message()));
  }
  if (program.ok()) {
    auto optimised = program->Optimised();
    if (!optimised.ok()) {
      return MakeError(ErrorCode::kUnsupported, std::string(optimised.status().message()));
    }
    note(**optimised);
    compiled.fingerprint = program->fingerprint();
  }
  compiled.fingerprint = With(compiled.fingerprint, decider.hidden(), plan);
  compiled.applied = decider.applied();
  compiled.sites = decider.TakeSites();
  if (options.sites) {
    compiled.flag_choices = TheTarget().FlagsToTry(passes, options.fast_math);
  }
  return compiled;
}

}  // namespace hone::compiler
