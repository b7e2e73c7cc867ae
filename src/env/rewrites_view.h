// The observation of an episode over rewrites, beside that of every episode.
#ifndef HONE_ENV_REWRITES_VIEW_H_
#define HONE_ENV_REWRITES_VIEW_H_

#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "core/rewrite.h"
#include "env/session.h"
#include "env/view.h"

namespace hone {

struct RewritesView : View {
  size_t position = 0;  // of the pass whose turn it is, in the pipeline
  int loop = 0;         // from 0
  // The rewrites that this pass offers; empty when the episode is over.
  std::shared_ptr<const Rewrites> listing = std::make_shared<const Rewrites>();
  std::vector<int32_t> nodes;  // of the listing's sites, rows of `arrays`; empty without those
};

// A site in numbers, in this order.
inline constexpr const char* kSiteFeatures[] = {
    "kind",                // RewriteKind
    "status",              // SiteStatus
    "opcode",              // the original's, index into Pool::opcodes()
    "replacement_opcode",  // of the replacement's root; -1 where nothing takes its place, or
                           // unknown
    "delta_op_count",      // over the program's op count as loaded
    "delta_flops",         // over its flops
    "delta_bytes",         // over its bytes accessed
    "conflicts",           // pairs of Rewrites::conflicts that it is in, over the sites listed
    "node",                // of ProgramArrays; -1 without ObservationOptions::graph
};
inline constexpr size_t kSiteFeatureCount = std::size(kSiteFeatures);

// Rows of kSiteFeatureCount, as many as `out` has room for; zeros beyond the listing.
void WriteSites(const Session& session, const RewritesView& view, std::span<float> out);

}  // namespace hone

#endif  // HONE_ENV_REWRITES_VIEW_H_
