// Fusion of any group of operations that the backend can emit, however little it seems to pay.
#ifndef HONE_COMPILER_RULES_GENERAL_FUSION_H_
#define HONE_COMPILER_RULES_GENERAL_FUSION_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_interface.h"

namespace hone::compiler {

// Each pair of a producer and its consumer is offered as a site; the pairs that are accepted make
// groups, each of which becomes one loop fusion: from a last consumer upward along accepted pairs.
// A member that others need too is computed in the fusion and outside. A pair is passed over where
// its producer would be emitted more than 15 times (as XLA's own fusion does) or a reduction be
// computed more than 16 times over.
//
// The groups are compiled before the pass ends. Error: kInvalidArgument, with the compiler's
// reason, where the backend cannot emit one.
class GeneralFusion : public xla::HloModulePass {
 public:
  absl::string_view name() const override { return "general_fusion"; }

 protected:
  absl::StatusOr<bool> RunImpl(
      xla::HloModule* module,
      const absl::flat_hash_set<absl::string_view>& execution_threads) override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_GENERAL_FUSION_H_
