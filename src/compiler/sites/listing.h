// The rewrites of a pass on a module, however finely it can be taken apart.
#ifndef HONE_COMPILER_SITES_LISTING_H_
#define HONE_COMPILER_SITES_LISTING_H_

#include "compiler/passes/pass_table.h"
#include "core/fingerprint.h"
#include "core/result.h"
#include "core/rewrite.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// `here` is the module's fingerprint. Where `intact` is false the module has become another. Not
// separable, and without sites, where the pass does what cannot be had one by one.
Rewrites ListSites(const PassEntry& pass, xla::HloModule* module, const Fingerprint& here,
                   const RewritesOptions& options, bool& intact);

// The pass as one site, or none where it changes nothing. Changes the module. kPassFailed where the
// pass fails.
StatusOr<Rewrites> ListWhole(const PassEntry& pass, xla::HloModule* module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_LISTING_H_
