// Windowed operations as operations on shifted arrays. XLA:CPU computes them with a scalar loop.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_

#include <optional>
#include <string>

#include "compiler/rules/rule_pass.h"

namespace hone::compiler {

// A reduce-window whose window is all that lies before (or behind) an element, in one dimension.
struct Cumulative {
  xla::HloOpcode opcode;
  int64_t dimension = 0;
  bool backward = false;  // from the last to the first
};
std::optional<Cumulative> CumulativeOf(const xla::HloInstruction& root);

// A reduce-window as its operation over the slices that the window's elements see.
class ReduceWindowShifts : public InstructionRule {
 public:
  std::string name() const override { return "reduce_window_shifts"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// Windows side by side, without gaps or padding: a reshape and a reduce.
class ReduceWindowReduce : public InstructionRule {
 public:
  std::string name() const override { return "reduce_window_reduce"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// Running sums, products, maxima: each element takes in the one 1, 2, 4, … places before it
// (Hillis and Steele, Data parallel algorithms, CACM 1986).
class CumulativeSteps : public InstructionRule {
 public:
  std::string name() const override { return "cumulative_steps"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// Running sums as products with triangles of ones: within blocks, then over the blocks' sums.
class CumulativeDots : public InstructionRule {
 public:
  std::string name() const override { return "cumulative_dots"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

// The gradient of a max-pool: which element of each window wins is found by comparing slices in
// XLA's order; then each element adds up what the windows that it won have for it.
class SelectAndScatterShifts : public InstructionRule {
 public:
  std::string name() const override { return "select_and_scatter_shifts"; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_
