// The network that scores what is offered; policy/offer_network.h says what it computes.
#ifndef HONE_LEARN_OFFER_NETWORK_H_
#define HONE_LEARN_OFFER_NETWORK_H_

#include <cstdint>
#include <memory>

#include "learn/network.h"
#include "learn/task.h"

namespace hone::learn {

// Layers that score an offer, beside the last: they run once for each, so they are narrow.
inline constexpr int64_t kOfferWidth = 64;

// The shape must have offer features. `options.hidden` are the state's layers. With as many outputs
// as there are actions they are scores, 0 where the mask is false, which is not computed; with one
// more, the last is a value of the state by a stack of its own (Duel of losses.h), which Export
// leaves out, for it makes no difference among actions.
std::shared_ptr<Network> MakeOfferNetwork(const NetworkOptions& options, const TaskShape& shape,
                                          int64_t outputs, double last_gain);

}  // namespace hone::learn

#endif  // HONE_LEARN_OFFER_NETWORK_H_
