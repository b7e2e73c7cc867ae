// The roofline model: a kernel takes as long as its computing or its moving, whichever is longer.
// (Williams, Waterman, Patterson: "Roofline: An Insightful Visual Performance Model for Multicore
// Architectures", CACM 52(4), 2009.)
#ifndef HONE_COST_ROOFLINE_H_
#define HONE_COST_ROOFLINE_H_

#include "cost/cost_graph.h"
#include "cost/machine.h"

namespace hone::cost {

// The time of one run of the program.
struct Roofline {
  double seconds = 0;
  double compute_seconds = 0;  // if moving were free
  double memory_seconds = 0;   // if computing were
  double kernels = 0;          // executions
};

// Sum over kernels of runs * (max(flops / peak, bytes / bandwidth) + what it takes to begin it). A
// kernel in pieces has the peak of as many cores, as far as there are; a dot or convolution that is
// a kernel of its own has all of them, for libraries split it by themselves.
Roofline RooflineOf(const CostGraph& graph, const Machine& machine);

// Seconds of one execution of a kernel.
double KernelSeconds(const CostGraph& graph, const CostNode& kernel, const Machine& machine);

}  // namespace hone::cost

#endif  // HONE_COST_ROOFLINE_H_
