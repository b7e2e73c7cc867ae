// One nest after the other, as a policy decides: what it sees of a nest, and of each decision that
// is offered there. So a network is of the same size whatever the task (as in Bendib et al. 2024,
// where operations are decided about one by one, from the last to the first).
#ifndef HONE_LOOPS_SITE_VIEW_H_
#define HONE_LOOPS_SITE_VIEW_H_

#include <cstddef>
#include <vector>

#include "loops/catalogue.h"
#include "loops/observe.h"

namespace hone::loops {

// A number of the catalogue at one site, or the last: on to the next nest.
inline constexpr size_t kSiteDecisions = kStepKinds * Catalogue::kEach;
inline constexpr size_t kSiteActions = kSiteDecisions + 1;

// Of the nest: loops, how far apart in memory neighbours of each lie, accesses, operations, state,
// how often each kind of decision was made. Then loops and state of the first nest that takes its
// result, and of the first one whose result it takes. Then points, their share of all nests',
// reduces, is a result. Logarithms are scaled to about 1.
inline constexpr size_t kNeighbourFeatures = kSeenLoops * kLoopFeatures + kStateFeatures;
inline constexpr size_t kSiteFeatures = kSeenLoops * kLoopFeatures + kSeenAccesses * kSeenLoops +
                                        kSeenAccesses * kSeenDimensions * kSeenLoops +
                                        kSeenScalars + kStateFeatures + kStepKinds +
                                        2 * kNeighbourFeatures + 4;

// Of a decision: its kind, or on; whether the rules of thumb would make it; for each loop its
// number, and into how many pieces that cuts the loop; points of a tile after it; of the loop that
// is innermost then the extent, and for each access whether it stays, goes on by one, or leaps; of
// what is fused its points.
inline constexpr size_t kOfferFeatures =
    kStepKinds + 2 + 2 * kSeenLoops + 2 + 3 * kSeenAccesses + 1;

struct SiteView {
  std::vector<float> features;  // [kSiteFeatures]
  std::vector<float> offers;    // [kSiteActions, kOfferFeatures]; 0 where nothing is offered
  std::vector<bool> mask;       // [kSiteActions]; the last is always offered
};

// Of the site-th of catalogue.sites(), which must be one of the program as it stands.
SiteView LookAtSite(const Catalogue& catalogue, const Scheduled& scheduled, size_t site);

// The catalogue's sites in the order of deciding: consumers before producers, for what is fused
// must be undecided; behind a nest the copies that packing it makes.
std::vector<size_t> SiteOrder(const Catalogue& catalogue);
// The first place in `order`, from `place` on, where something is offered; order.size() where there
// is none.
size_t NextPlace(const Catalogue& catalogue, const Scheduled& scheduled,
                 const std::vector<size_t>& order, size_t place);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SITE_VIEW_H_
