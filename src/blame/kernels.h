// Kernels of two executables of one program, matched by what they compute.
#ifndef HONE_BLAME_KERNELS_H_
#define HONE_BLAME_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/compile_plan.h"
#include "core/program_graph.h"

namespace hone::blame {

// Kernels that compute the same from arrays of the same shapes, taken together.
struct KernelChange {
  std::string name_a;  // of the first one's instruction; "" where that executable has none
  std::string name_b;
  std::string opcode;
  std::string what;   // opcodes in it and the shape of the result, for people
  int kernels_a = 0;  // how many
  int kernels_b = 0;
  double seconds_a = 0;  // of a run, all of them
  double seconds_b = 0;
  std::vector<std::string> parts;  // names of instructions in the first one, before they were fused
};

// Those whose time differs most first; loops and calls are left out, for the kernels in them are
// there.
std::vector<KernelChange> MatchKernels(const std::vector<KernelTime>& a,
                                       const ProgramGraph& graph_a,
                                       const std::vector<KernelTime>& b,
                                       const ProgramGraph& graph_b);

}  // namespace hone::blame

#endif  // HONE_BLAME_KERNELS_H_
