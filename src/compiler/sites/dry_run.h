// The rewrites that a pass would make, found by running it with every rewrite declined.
#ifndef HONE_COMPILER_SITES_DRY_RUN_H_
#define HONE_COMPILER_SITES_DRY_RUN_H_

#include <string>

#include "compiler/passes/pass_table.h"
#include "compiler/sites/decider.h"
#include "core/rewrite.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

struct DryRunResult {
  Rewrites rewrites;    // all but state and separable
  std::string failure;  // of the pass
};

// Runs the pass on the module. What it does in other ways than by rewrites is done to it: whoever
// calls compares fingerprints, and throws the module away where they differ.
DryRunResult DryRun(const PassEntry& pass, xla::HloModule* module, const RewritesOptions& options);

// Runs the pass and has every rewrite decided; cleans up behind it. Returns the pass's failure.
std::string RunObserved(const PassEntry& pass, xla::HloModule* module, bool places,
                        Decider::Decide decide);

// A site in words, while the pass waits at it.
RewriteSite DescribeSite(Decider& decider, const Decider::Site& found,
                         const RewritesOptions& options, const Effect* effect = nullptr);

// Runs the pass with these decisions; the rest is as with DryRun. Returns the pass's failure.
// `made` says whether any rewrite was.
std::string RunDecided(const PassEntry& pass, xla::HloModule* module, const Decisions& decisions,
                       bool& made);

// Sites of a pass that changes instructions in place alone (layouts, shardings, …), from what it has
// made of a copy. False where it did more than that.
bool InPlaceSites(const xla::HloModule& before, const xla::HloModule& after,
                  const RewritesOptions& options, std::vector<RewriteSite>& sites);

// Puts back what was declined of the changes in place that made `after` of `before`.
void RestoreDeclined(const xla::HloModule& before, const Decisions& decisions,
                     xla::HloModule* after);

// The one site of a pass that cannot be taken apart.
RewriteSite WholeSite(const PassEntry& pass, const Fingerprint& before, int64_t delta_op_count,
                      double delta_flops, double delta_bytes);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_DRY_RUN_H_
