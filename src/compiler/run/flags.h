// XLA's debug options by name: which are worth trying, and how a plan's are set.
#ifndef HONE_COMPILER_RUN_FLAGS_H_
#define HONE_COMPILER_RUN_FLAGS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/compile_plan.h"
#include "core/program.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/xla.pb.h"

namespace hone::compiler {

// Flags of code generation and scheduling, with values that leave the numerics as they are up to the
// order of additions; with `fast_math` also those that do not.
std::vector<FlagChoices> TunableFlags(bool fast_math);

// For leaving out each of the passes that changed the module when the stock compiler ran them, of those that
// may be: some are for the worse.
std::vector<FlagChoices> PassesToLeaveOut(const std::vector<StockPass>& passes,
                                          const std::function<bool(const std::string& pass)>& may_be);
// Of XLA:CPU's: not those that later ones rely on, or that change nothing that is run.
bool MayBeLeftOut(const std::string& pass);

// "xla_backend_extra_options.NAME" is an entry of that map; repeated fields take values with commas,
// "none" for no value. Errors: kInvalidInput for a name or value that XLA does not have.
Status SetFlags(const std::vector<std::pair<std::string, std::string>>& flags,
                xla::DebugOptions* options);

// Of a module with a loop as one kernel: XLA fuses reductions for a library there, too, and has no
// code for these in such a kernel, so it is told not to. Others' flags stay as they are.
void SetWhatItNeeds(const xla::HloModule& module, xla::DebugOptions* options);

// Has runs traced, kernel by kernel: no other code.
inline constexpr char kTraceFlag[] = "xla_cpu_enable_xprof_traceme";

// Of a plan, the flags alone that the optimised module does not show: those that may decide on code.
CompilePlan CodeFlags(const CompilePlan& plan);
// Of those, the ones that may decide on kernels.
CompilePlan KernelFlags(const CompilePlan& plan);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_FLAGS_H_
