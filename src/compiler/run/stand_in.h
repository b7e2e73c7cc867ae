// Stand-ins for custom calls that this XLA:CPU does not have.
//
// To compare two programs, what an opaque function computes does not matter, as long as it is the
// same function in both: no pass knows its laws either. (Uninterpreted functions: Burch and Dill,
// "Automatic Verification of Pipelined Microprocessor Control", CAV 1994.) So each such call
// becomes arithmetic that depends on its target, every operand, and position. Floating-point
// results are linear in the operands, so rounding errors stay what they are; integer results
// mix the integer operands' bits, or count along the last dimension where there are none.
#ifndef HONE_COMPILER_RUN_STAND_IN_H_
#define HONE_COMPILER_RUN_STAND_IN_H_

#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Why `module` cannot be run on this machine alone, as it is: see WhyNotRunnable; a custom call is
// missing, or there is more to hold than CompareOptions::most_bytes.
std::optional<std::string> WhyNotRunnableAsIs(const xla::HloModule& module);

// The targets of custom calls in `module` that cannot run here, in order.
std::set<std::string> MissingCustomCalls(const xla::HloModule& module);

// Whether it calls back into Python, for which RegisterCustomCalls has a stand-in.
bool CallsPython(const xla::HloModule& module);

// Replaces those that are missing in place; their targets. Error: one has side effects or works on something other than
// arrays; the module is then half-changed.
absl::StatusOr<std::set<std::string>> ReplaceMissingCustomCalls(xla::HloModule* module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_STAND_IN_H_
