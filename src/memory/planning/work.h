// How long things take on a machine, roughly.
#ifndef HONE_MEMORY_PLANNING_WORK_H_
#define HONE_MEMORY_PLANNING_WORK_H_

#include "memory/machine.h"
#include "memory/network.h"
#include "memory/plan.h"

namespace hone::memory {

// Multiplications and additions of a dot or convolution for a box of its result; 0 for others.
double ProductFlops(const Network& network, const Op& op, const Box& out);
// Of all operators, whole.
double ProductFlops(const Network& network);
// About how many elements the simulator computes, each as often as it takes.
double ElementWork(const Network& network);

// What a product moves on its own at least, however it is cut into tiles (baselines.h); 0 for all
// else.
int64_t LeastProductBytes(const Network& network, const Machine& machine, const Op& op);

// What an operator that runs from DRAM to DRAM moves beside its operands and results, which are
// `once` bytes: products in squares what they move at least, sorts by merging runs of the
// scratchpad's size, and Fourier transforms, what they pass through once more.
struct MovedAgain {
  int64_t loaded = 0;
  int64_t stored = 0;
};
MovedAgain MovedAgainOf(const Network& network, const Machine& machine, const Op& op, int64_t once);

// Seconds on the engines: products at the machine's rate, else one operation for each element read
// or computed, whichever are more.
double ComputeSeconds(const Network& network, const Machine& machine, const Op& op, const Box& out);

// Seconds of a transfer: pieces that lie together in DRAM but are shorter than the efficient size
// take the time of that size; latencies of up to sixteen transfers overlap. The tensor's dimensions
// lie in the `order` given, outermost first; in the program's where that is empty.
double TransferSeconds(const Machine& machine, const Tensor& tensor, const Box& box,
                       const std::vector<int64_t>& order);

// Seconds of a plan: transfers and engines work side by side; in the order of blocks, the slower of
// the two decides. In seconds.cc.
double EstimateSeconds(const Network& network, const Machine& machine, const Plan& plan);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_WORK_H_
