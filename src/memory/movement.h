// Expressions, no larger than they need be.
#ifndef HONE_MEMORY_MOVEMENT_H_
#define HONE_MEMORY_MOVEMENT_H_

#include "memory/network.h"

namespace hone::memory {

// Adds an expression to the network, or finds one that says the same with less: a slice of an
// update or a concatenation that sees only one of its inputs is a slice of that input (so whoever
// reads one step's part of what a loop has stacked depends on that step alone), a slice of a slice
// is one slice, and an update that covers another hides it.
ExprId AddMovement(Network& network, Expr expr);

}  // namespace hone::memory

#endif  // HONE_MEMORY_MOVEMENT_H_
