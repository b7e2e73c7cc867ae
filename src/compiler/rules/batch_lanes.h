// Horizontal batching: what n parts of a program do alike, one instruction does on joined tensors.
#ifndef HONE_COMPILER_RULES_BATCH_LANES_H_
#define HONE_COMPILER_RULES_BATCH_LANES_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_interface.h"

namespace hone::compiler {

struct BatchLanesOptions {
  bool concatenate = true;  // join along a dimension in which the lanes may differ
  bool stack = true;        // join equal shapes along a new dimension
  bool flatten = true;      // join any shapes as one-dimensional tensors
  bool heavy = true;        // dots, convolutions and reductions too
  int most_rounds = 6;
};

// Groups instructions that do the same on independent data (an optimizer's update of every
// parameter, the norms of every gradient, dots that share an operand), follows their operands
// upward as long as they stay alike, and replaces the group by one chain on joined tensors wherever
// that leaves fewer instructions: what dies, less the chain, the joins, the broadcasts and the
// slices that take the results apart again. A group is packed only where no lane reaches another,
// also through what other instructions of the group depend on, so that no cycle can come about.
//
// Element by element the arithmetic is the same; dots and reductions may add in another order.
// The idea is superword-level parallelism (Larsen and Amarasinghe, PLDI 2000) with tensors for
// registers: seeds are the last instructions before the results, packs grow along operands.
class BatchLanes : public xla::HloModulePass {
 public:
  explicit BatchLanes(BatchLanesOptions options = {}) : options_(options) {}
  absl::string_view name() const override { return "batch_lanes"; }

 protected:
  absl::StatusOr<bool> RunImpl(
      xla::HloModule* module,
      const absl::flat_hash_set<absl::string_view>& execution_threads) override;

 private:
  const BatchLanesOptions options_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_BATCH_LANES_H_
