// Equality saturation of a module: what rules make of it, all at once, and of all that the
// cheapest.
//
// Every computation but fusions and the regions of reductions and the like is cut into windows of
// its post-order. A window becomes an e-graph, rules are applied under limits (egraph/saturate.h),
// and what the rest of the program needs of it is extracted at the least cost, shared values
// counted once (egraph/extract.h). Equal instructions are found on the way, and scalars of scalars
// folded.
#ifndef HONE_COMPILER_RULES_SATURATE_H_
#define HONE_COMPILER_RULES_SATURATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/rules/hlo_operators.h"
#include "compiler/rules/pattern.h"
#include "egraph/extract.h"
#include "egraph/saturate.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_interface.h"

namespace hone::compiler {

struct SaturateOptions {
  SaturationGoal goal = SaturationGoal::kOpCount;
  // Of a window. E-nodes are counted beyond those of the program. No limit in seconds, for results
  // would depend on the machine; the others keep a window to a few seconds.
  egraph::Limits limits = {/*nodes=*/8000, /*iterations=*/8, /*seconds=*/0,
                           /*match_limit=*/400, /*ban_length=*/2};
  // Instructions of a window.
  size_t window = 1500;
  // Sweeps over a computation of more than one window; every other one is cut half a window later.
  int sweeps = 2;
  egraph::LocalSearchOptions extraction;
};

// What came of a window.
struct WindowReport {
  std::string computation;
  int64_t instructions = 0;
  egraph::RunReport run;
  double cost_before = 0;  // of the window, by the goal
  double cost_after = 0;
  int64_t replaced = 0;
  double extract_seconds = 0;
};

// Changes the module. Replacing is done with HloComputation::ReplaceInstruction, so that every
// changed value is a rewrite site; what is declined stays. Never costs more than before, by the
// goal. Scheduled modules are left alone. `rules` must outlive the call; `reports` may be null.
absl::StatusOr<bool> Saturate(xla::HloModule* module, const std::vector<const Rule*>& rules,
                              const SaturateOptions& options,
                              const absl::flat_hash_set<absl::string_view>& execution_threads,
                              std::vector<WindowReport>* reports);

class SaturatePass : public xla::HloModulePass {
 public:
  SaturatePass(std::string name, std::vector<const Rule*> rules, SaturateOptions options)
      : name_(std::move(name)), rules_(std::move(rules)), options_(options) {}
  absl::string_view name() const override { return name_; }

 protected:
  absl::StatusOr<bool> RunImpl(
      xla::HloModule* module,
      const absl::flat_hash_set<absl::string_view>& execution_threads) override {
    return Saturate(module, rules_, options_, execution_threads, nullptr);
  }

 private:
  const std::string name_;
  const std::vector<const Rule*> rules_;
  const SaturateOptions options_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_SATURATE_H_
