// The partition dimension of every tensor, chosen for the whole network at once.
#ifndef HONE_MEMORY_LAYOUT_ASSIGN_LAYOUTS_H_
#define HONE_MEMORY_LAYOUT_ASSIGN_LAYOUTS_H_

#include <limits>
#include <vector>

#include "memory/layout/layout.h"
#include "memory/network.h"

namespace hone::memory {

struct LayoutAssignment {
  std::vector<Layout> layouts;  // of each tensor
  double cost = 0;              // operands that lie otherwise than asked, and room in such copies
};

// Each tensor takes one of the layouts that its producer can leave it in, such that the fewest
// operands lie otherwise than their operators ask, and little room is wasted: see labelling.h.
// `room_in_copies`: so many copies are as bad as wasting the room of the whole scratchpad where it
// would be full anyway; or, where everything would fit and layouts chosen `before` are given,
// where it would be with those: small tensors that leave most partitions empty fill it, too. Time:
// O(operators × layouts); where `budget_seconds` are not enough, with fewer states.
LayoutAssignment AssignLayouts(const Network& network, const Machine& machine,
                               double room_in_copies = 0,
                               double budget_seconds = std::numeric_limits<double>::infinity(),
                               const std::vector<Layout>* before = nullptr);

// No layouts cost less.
double LeastLayoutCost(const Network& network, const Machine& machine, double room_in_copies = 0);

// Copies where layouts are chosen as a compiler of single operators does: the leading dimensions,
// whatever the consumers ask for.
int64_t LocalCopies(const Network& network, const Machine& machine);

}  // namespace hone::memory

#endif  // HONE_MEMORY_LAYOUT_ASSIGN_LAYOUTS_H_
