#include "compiler/sites/listing.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "compiler/fingerprint.h"
#include "compiler/metrics.h"
#include "compiler/sites/dry_run.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Metrics MetricsOf(const xla::HloModule& module, Fingerprint& fingerprint) {
  Metrics metrics;
  const ModuleDigest digest = DigestModule(module);
  fingerprint = digest.fingerprint;
  CountInto(digest, metrics);
  AnalyseCost(module, metrics);
  return metrics;
}

}  // namespace

Rewrites ListSites(const PassEntry& pass, xla::HloModule* module, const Fingerprint& here,
                   const RewritesOptions& options, bool& intact) {
  Rewrites rewrites;
  rewrites.separable = false;
  intact = true;
  if (pass.grain == Grain::kRewrites) {
    DryRunResult dry = DryRun(pass, module, options);
    rewrites = std::move(dry.rewrites);
    intact = dry.failure.empty() && DigestModule(*module).fingerprint == here;
    rewrites.separable = intact;
  } else if (pass.grain == Grain::kInPlace) {
    const std::unique_ptr<xla::HloModule> after = module->Clone(/*suffix=*/"");
    Clock::time_point start = Clock::now();
    const bool ran = pass.make()->Run(after.get()).ok();
    rewrites.dry_seconds = Since(start);
    start = Clock::now();
    rewrites.separable = ran && (DigestModule(*after).fingerprint == here ||
                                 InPlaceSites(*module, *after, options, rewrites.sites));
    rewrites.list_seconds = Since(start);
  }
  if (!rewrites.separable) {
    rewrites.sites.clear();
    rewrites.conflicts.clear();
  }
  return rewrites;
}

StatusOr<Rewrites> ListWhole(const PassEntry& pass, xla::HloModule* module) {
  Rewrites rewrites;
  rewrites.separable = false;
  Fingerprint was;
  Fingerprint is;
  const Metrics before = MetricsOf(*module, was);
  const Clock::time_point start = Clock::now();
  if (const absl::Status status = pass.make()->Run(module).status(); !status.ok()) {
    return MakeError(ErrorCode::kPassFailed, std::string(status.message()));
  }
  rewrites.dry_seconds = Since(start);
  if (module->has_schedule() && !module->schedule().Update().ok()) module->clear_schedule();
  module->Cleanup();
  const Metrics after = MetricsOf(*module, is);
  if (was == is) return rewrites;
  rewrites.sites.push_back(WholeSite(pass, was, after.op_count - before.op_count,
                                     after.flops - before.flops,
                                     after.bytes_accessed - before.bytes_accessed));
  return rewrites;
}

}  // namespace hone::compiler
