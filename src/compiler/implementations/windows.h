// Windowed operations as operations on shifted arrays. XLA:CPU computes them with a scalar loop.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// All that lies before (or behind) an element, in one dimension.
struct Scan {
  int64_t dimension = -1;
  bool backward = false;  // from the last to the first
};
// A reduce-window whose windows are that, with a reducer that is one operation.
struct Cumulative : Scan {
  xla::HloOpcode opcode;
};
std::optional<Cumulative> CumulativeOf(const xla::HloInstruction& root);

// A reduce-window as its operation over the slices that the window's elements see.
absl::StatusOr<xla::HloInstruction*> ReduceWindowShifts(xla::HloInstruction* root);

// Windows side by side, without gaps or padding: a reshape and a reduce.
absl::StatusOr<xla::HloInstruction*> ReduceWindowReduce(xla::HloInstruction* root);

// Running sums, products, maxima, and whatever else combines two elements: each element takes in
// the one 1, 2, 4, … places before it (Hillis and Steele, Data parallel algorithms, CACM 1986).
absl::StatusOr<xla::HloInstruction*> CumulativeSteps(xla::HloInstruction* root);

// Running sums as products with triangles of ones: within blocks, then over the blocks' sums.
absl::StatusOr<xla::HloInstruction*> CumulativeDots(xla::HloInstruction* root);

// The gradient of a max-pool: which element of each window wins is found by comparing slices in
// XLA's order; then each element adds up what the windows that it won have for it.
absl::StatusOr<xla::HloInstruction*> SelectAndScatterShifts(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_
