// The kernels of hone-loops that a module calls.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_LOOP_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_LOOP_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// The tasks of the module's calls whose kernels this process lacks, each once.
// Errors: a call that does not tell its task, or has another kernel's name.
absl::StatusOr<std::vector<std::string>> MissingKernels(const xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_LOOP_KERNELS_H_
