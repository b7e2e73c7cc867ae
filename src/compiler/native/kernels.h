// The kernels that this process has, by name. From any thread.
#ifndef HONE_COMPILER_NATIVE_KERNELS_H_
#define HONE_COMPILER_NATIVE_KERNELS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/native_kernel.h"
#include "core/result.h"

namespace hone::native {

struct Kernel {
  loops::Entry entry = nullptr;
  std::vector<int64_t> bytes;  // of its buffers: inputs, then outputs
};

// What there is under the name stays. Kernels are kept for ever: XLA may call one as long as there
// is an executable. Errors: the object cannot be loaded.
Status AddKernel(const std::string& name, std::string_view object, std::vector<int64_t> bytes);

// Null where it is not there.
const Kernel* FindKernel(std::string_view name);

}  // namespace hone::native

#endif  // HONE_COMPILER_NATIVE_KERNELS_H_
