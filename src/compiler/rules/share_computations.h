// Equal reducers, comparators and combiners become one computation.
#ifndef HONE_COMPILER_RULES_SHARE_COMPUTATIONS_H_
#define HONE_COMPILER_RULES_SHARE_COMPUTATIONS_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_interface.h"

namespace hone::compiler {

// A front end writes `add` anew for every reduce. Only what an operation applies to scalars is
// shared (reduce, reduce-window, scatter, select-and-scatter, sort, map, all-reduce and
// reduce-scatter keep their own where they have channels): bodies of loops, branches and functions
// are not, because sharing those is outlining. Not a rewrite of instructions: it offers no sites.
class ShareComputations : public xla::HloModulePass {
 public:
  absl::string_view name() const override { return "share_computations"; }

 protected:
  absl::StatusOr<bool> RunImpl(
      xla::HloModule* module,
      const absl::flat_hash_set<absl::string_view>& execution_threads) override;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_SHARE_COMPUTATIONS_H_
