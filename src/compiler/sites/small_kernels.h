// Small kernels beside each other, which may be one.
#ifndef HONE_COMPILER_SITES_SMALL_KERNELS_H_
#define HONE_COMPILER_SITES_SMALL_KERNELS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Starting a kernel takes about as long as a thousand elements: an optimizer that updates eighty
// small arrays is little else. These are the kernels of an optimised computation that could be one,
// a call that XLA:CPU compiles as a kernel, as it does with small loops
// (xla/service/cpu/small_while_loop_hoisting_pass.cc).
struct SmallKernels {
  std::vector<xla::HloInstruction*> members;  // operands before users
  std::vector<xla::HloInstruction*> results;  // those that others need
  uint64_t hash = 0;                          // of what they compute
};

// The groups of a computation that would save some kernels; between members of one there is
// nothing that is not small. Each kernel is as late as it may be, so that many come together. None
// where the computation is not run as it stands, or is part of a kernel.
std::vector<SmallKernels> FindSmallKernels(xla::HloComputation* computation);

// Puts the call in their place.
absl::Status Join(const SmallKernels& kernels);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_SMALL_KERNELS_H_
