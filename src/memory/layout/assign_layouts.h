// The partition dimension of every tensor, chosen for the whole network at once.
#ifndef HONE_MEMORY_LAYOUT_ASSIGN_LAYOUTS_H_
#define HONE_MEMORY_LAYOUT_ASSIGN_LAYOUTS_H_

#include <vector>

#include "memory/layout/layout.h"
#include "memory/network.h"

namespace hone::memory {

struct LayoutAssignment {
  std::vector<Layout> layouts;  // of each tensor
  int64_t copies = 0;           // operands that lie otherwise than their operator asks for
  bool optimal = false;         // no other layouts cost less
};

// Each tensor takes one of the layouts that its producer can leave it in, such that the fewest
// operands lie otherwise than their operators ask, and little room is wasted: see labelling.h.
// `room_in_copies`: so many copies are as bad as wasting the room of the whole scratchpad where it
// would be full anyway. Time: O(operators × layouts).
LayoutAssignment AssignLayouts(const Network& network, const Machine& machine,
                               double room_in_copies = 0);

// As a compiler of single operators chooses: the leading dimensions, whatever the consumers ask
// for.
LayoutAssignment LocalLayouts(const Network& network, const Machine& machine);

}  // namespace hone::memory

#endif  // HONE_MEMORY_LAYOUT_ASSIGN_LAYOUTS_H_
