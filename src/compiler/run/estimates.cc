#include "compiler/run/estimates.h"

#include <chrono>
#include <string>

#include "compiler/fingerprint.h"
#include "compiler/launches.h"
#include "compiler/pipelines/stock.h"
#include "compiler/run/flags.h"
#include "compiler/sites/compile_decider.h"
#include "compiler/target.h"
#include "xla/hlo/ir/hlo_print_options.h"

namespace hone::compiler {
namespace {

constexpr size_t kMostKnown = 256;

CompileOptions WithoutSites() {
  CompileOptions options;
  options.sites = false;
  return options;
}

}  // namespace

StatusOr<std::unique_ptr<xla::HloModule>> OptimiseUnderPlan(const xla::HloModule& module,
                                                            const CompilePlan& plan,
                                                            CompileDecider* decider) {
  auto copy = module.Clone("");
  xla::DebugOptions flags = copy->config().debug_options();
  if (Status set = SetFlags(plan.flags, &flags); !set) return tl::unexpected(set.error());
  copy->mutable_config().set_debug_options(flags);
  const ScopedPipelineObserver scope(decider);
  auto optimised = TheTarget().Optimise(std::move(copy));
  if (!optimised.ok()) {
    return MakeError(ErrorCode::kUnsupported, "XLA does not optimise it for " + TheTarget().name() +
                                                  ": " + std::string(optimised.status().message()));
  }
  return *std::move(optimised);
}

StatusOr<std::unique_ptr<xla::HloModule>> PlainUnderPlan(const xla::HloModule& module,
                                                         const CompilePlan& plan) {
  CompileDecider decider(plan);
  auto optimised = OptimiseUnderPlan(module, plan, &decider);
  if (!optimised) return optimised;
  if (absl::Status status = TheTarget().MakePlain(**optimised); !status.ok()) {
    return MakeError(ErrorCode::kUnsupported, std::string(status.message()));
  }
  return optimised;
}

StatusOr<Estimates::Known> Estimates::Look(const xla::HloModule& module, const CompilePlan& plan,
                                           const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CompileDecider decider(plan, options);
  // Where there is nothing to decide or to note down, nothing is observed: this is what observed
  // compilations are held against.
  const bool observed = options.sites || !plan.choices.empty();
  auto optimised = OptimiseUnderPlan(module, plan, observed ? &decider : nullptr);
  if (!optimised) return tl::unexpected(optimised.error());
  Known known;
  auto kernels = TheTarget().EstimateKernels(**optimised, /*optimised=*/true);
  if (!kernels.ok()) {
    return MakeError(ErrorCode::kUnsupported, std::string(kernels.status().message()));
  }
  known.kernels = *std::move(kernels);
  for (const KernelTime& kernel : known.kernels) known.seconds += kernel.seconds;
  known.unknown_loops = UnknownLoops(**optimised);
  Compiled& compiled = known.compiled;
  compiled.fingerprint = DigestModule(**optimised).fingerprint;
  compiled.instructions = (*optimised)->instruction_count();
  compiled.applied = decider.applied();
  if (options.sites) {
    compiled.sites = decider.TakeSites();
    compiled.flag_choices = TheTarget().FlagsToTry(PassesThatRan(**optimised), options.fast_math);
  }
  if (options.text) {
    compiled.text = (*optimised)->ToString(xla::HloPrintOptions().set_print_large_constants(true));
  }
  if (options.assembly) {
    auto assembly = TheTarget().Assembly(*std::move(optimised));
    if (!assembly.ok()) {
      return MakeError(ErrorCode::kUnsupported,
                       "XLA makes no code of it here: " + std::string(assembly.status().message()));
    }
    compiled.assembly = *std::move(assembly);
  }
  compiled.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return known;
}

void Estimates::Remember(const Key& key, Known known) {
  if (!known_.try_emplace(key, std::move(known)).second) return;
  oldest_.push_back(key);
  if (oldest_.size() <= kMostKnown) return;
  known_.erase(oldest_.front());
  oldest_.pop_front();
}

StatusOr<Estimates::Known> Estimates::Find(const xla::HloModule& module, const CompilePlan& plan) {
  const Key key{DigestModule(module).fingerprint, plan.Hash()};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  auto known = Look(module, plan, WithoutSites());
  if (known) Remember(key, *known);
  return known;
}

StatusOr<Compiled> Estimates::Compile(const xla::HloModule& module, const CompilePlan& plan,
                                      const CompileOptions& options) {
  if (!options.sites && !options.text && !options.assembly) {
    auto known = Find(module, plan);
    if (!known) return tl::unexpected(known.error());
    return std::move(known->compiled);
  }
  auto known = Look(module, plan, options);
  if (!known) return tl::unexpected(known.error());
  Compiled compiled = known->compiled;
  known->compiled.sites.clear();
  known->compiled.flag_choices.clear();
  known->compiled.text.clear();
  known->compiled.assembly.clear();
  Remember({DigestModule(module).fingerprint, plan.Hash()}, *std::move(known));
  return compiled;
}

StatusOr<RaceReport> Estimates::Race(const xla::HloModule& a, const CompilePlan& plan_a,
                                     const xla::HloModule& b, const CompilePlan& plan_b) {
  const auto of_a = Find(a, plan_a);
  if (!of_a) return tl::unexpected(of_a.error());
  const auto of_b = Find(b, plan_b);
  if (!of_b) return tl::unexpected(of_b.error());
  if (of_b->unknown_loops > of_a->unknown_loops) {
    return MakeError(ErrorCode::kUnsupported,
                     "XLA no longer knows how often one of its loops runs: no estimate");
  }
  RaceReport report;
  report.executable_a = of_a->compiled.fingerprint;
  report.executable_b = of_b->compiled.fingerprint;
  report.same_executable = report.executable_a == report.executable_b;
  report.seconds_a = of_a->seconds;
  report.seconds_b = of_b->seconds;
  report.compile_seconds_a = of_a->compiled.seconds;
  report.compile_seconds_b = of_b->compiled.seconds;
  report.pairs = 1;
  if (report.seconds_a > 0 && report.seconds_b > 0) {
    report.speedup = report.low = report.high = report.seconds_a / report.seconds_b;
  }
  return report;
}

StatusOr<std::vector<KernelTime>> Estimates::Profile(const xla::HloModule& module,
                                                     const CompilePlan& plan) {
  auto known = Find(module, plan);
  if (!known) return tl::unexpected(known.error());
  return std::move(known->kernels);
}

}  // namespace hone::compiler
