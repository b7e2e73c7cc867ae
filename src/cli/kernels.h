// Kernels of hone-loops for the programs that commands run and write.
#ifndef HONE_CLI_KERNELS_H_
#define HONE_CLI_KERNELS_H_

#include <functional>
#include <string>
#include <string_view>

#include "cli/common.h"
#include "core/native_kernel.h"
#include "core/result.h"

namespace hone::cli {

// Makes kernels for a pool's workers (PoolOptions::kernels), each once in this process; null where
// hone was built without hone-loops. `sandbox`: hone-loops locks itself up.
std::function<StatusOr<loops::NativeKernel>(const std::string& task)> KernelMaker(bool sandbox);

// Writes a program, and where it calls kernels, these beside it (loops/kernel_file.h), first.
Status WriteProgram(const std::string& path, std::string_view bytes, const CommonOptions& options);

}  // namespace hone::cli

#endif  // HONE_CLI_KERNELS_H_
