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
};

// Each tensor takes a layout that its producer can leave it in; then, tensor by tensor until
// nothing changes, the one with the fewest disagreements between producer and consumers, ties by
// bytes per partition. Cost: (sweeps × tensors × layouts × users).
LayoutAssignment AssignLayouts(const Network& network, const Machine& machine);

// As a compiler of single operators chooses: the leading dimensions, whatever the consumers ask
// for.
LayoutAssignment LocalLayouts(const Network& network, const Machine& machine);

}  // namespace hone::memory

#endif  // HONE_MEMORY_LAYOUT_ASSIGN_LAYOUTS_H_
