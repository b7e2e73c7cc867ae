// How long a plan takes.
#ifndef HONE_MEMORY_PLANNING_SECONDS_H_
#define HONE_MEMORY_PLANNING_SECONDS_H_

#include "memory/machine.h"
#include "memory/network.h"
#include "memory/plan.h"

namespace hone::memory {

// Seconds, estimated: transfers and engines work side by side; in the order of blocks, the slower
// of the two decides.
double EstimateSeconds(const Network& network, const Machine& machine, const Plan& plan);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_SECONDS_H_
