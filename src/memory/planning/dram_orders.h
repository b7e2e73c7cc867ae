// How what only the plan puts into DRAM lies there.
#ifndef HONE_MEMORY_PLANNING_DRAM_ORDERS_H_
#define HONE_MEMORY_PLANNING_DRAM_ORDERS_H_

#include "memory/machine.h"
#include "memory/network.h"
#include "memory/plan.h"

namespace hone::memory {

// For each tensor that a plan both stores and loads, and each constant that it loads, the order of
// dimensions in DRAM with which its transfers take least time, where the program's own takes more.
// Parameters and outputs are not the plan's to arrange.
DramOrders OrdersInDram(const Network& network, const Machine& machine, const Plan& plan);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_DRAM_ORDERS_H_
