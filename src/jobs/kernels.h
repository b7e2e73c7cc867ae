// Kernels of hone-loops for the programs that jobs run and give out.
#ifndef HONE_JOBS_KERNELS_H_
#define HONE_JOBS_KERNELS_H_

#include <functional>
#include <string>
#include <string_view>

#include "core/native_kernel.h"
#include "core/result.h"

namespace hone::jobs {

using MakeKernel = std::function<StatusOr<loops::NativeKernel>(const std::string& task)>;

// Makes kernels for a pool's workers (PoolOptions::kernels), each once in this process; null where
// hone was built without hone-loops. `sandbox`: hone-loops locks itself up. `program`: the path of
// hone-loops, "" for the one beside this executable; both count at the first call.
MakeKernel KernelMaker(bool sandbox, const std::string& program = "");

// The file of the kernels that a program calls (loops/kernel_file.h), which lies beside it; ""
// where it calls none. `make` is KernelMaker's.
StatusOr<std::string> KernelsOf(std::string_view program, const MakeKernel& make);

}  // namespace hone::jobs

#endif  // HONE_JOBS_KERNELS_H_
