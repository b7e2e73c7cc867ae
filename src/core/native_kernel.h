// Kernels in machine code, as hone-loops makes them of tasks and XLA calls them.
//
// A kernel has one entry, `void hone_kernel(void** buffers, const Runner* runner)`: inputs and then
// outputs, row-major, as its task lists them; outputs and inputs do not overlap. It keeps nothing
// between calls, and may be called by several threads at once. Beside libc's memory functions and
// libm it needs nothing.
#ifndef HONE_CORE_NATIVE_KERNEL_H_
#define HONE_CORE_NATIVE_KERNEL_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fnv.h"
#include "core/result.h"

namespace hone::loops {

// Whoever calls a kernel may lend it processors. `run` calls `body(state, begin, end)` on parts of
// [0, iterations), on any threads, and returns when all is done. Without a runner the kernel does
// everything itself.
struct Runner {
  void (*run)(const Runner* self, int64_t iterations, void (*body)(void*, int64_t, int64_t),
              void* state);
};

using Entry = void (*)(void** buffers, const Runner* runner);
inline constexpr const char* kEntryName = "hone_kernel";

// The XLA custom call that runs a kernel. Its attributes:
// the kernel's name;
// its task's text, with ';' for the ends of lines.
inline constexpr const char* kKernelCall = "hone_loops";
inline constexpr const char* kKernelName = "kernel";
inline constexpr const char* kKernelTask = "task";
inline constexpr std::string_view kKernelTaskBegin = "task kernel;";

// The first line of a file of kernels (loops/kernel_file.h).
inline constexpr std::string_view kKernelFile = "hone kernels 1";

// The passes that put such calls into programs.
inline constexpr std::string_view kKernelPass = "implement:loops";
inline constexpr std::string_view kProductPass = "implement:products";
inline constexpr std::string_view kConvolutionPass = "implement:convolutions";
inline constexpr std::string_view kDepthwisePass = "implement:depthwise";
inline constexpr std::string_view kTransposePass = "implement:transposes";
inline constexpr std::string_view kSortPass = "implement:sorts";
inline constexpr std::string_view kMatrixPass = "implement:matrices";
inline constexpr std::string_view kKernelPasses[] = {
    kKernelPass,    kProductPass, kConvolutionPass, kDepthwisePass,
    kTransposePass, kSortPass,    kMatrixPass};
inline bool MakesKernels(std::string_view pass) {
  for (const std::string_view one : kKernelPasses) {
    if (one == pass) return true;
  }
  return false;
}

// The name of a kernel by its task's text, as the attribute has it.
inline std::string KernelName(std::string_view task) {
  char name[17];
  std::snprintf(name, sizeof(name), "%016llx", static_cast<unsigned long long>(Fnv1a(task)));
  return name;
}

struct NativeKernel {
  std::string name;            // KernelName
  std::string object;          // ELF, relocatable, for the processor that it was made on
  std::vector<int64_t> bytes;  // of its buffers: inputs, then outputs
};

// Makes the kernels of tasks' texts, in their order; from any thread.
using MakeKernels =
    std::function<StatusOr<std::vector<NativeKernel>>(const std::vector<std::string>& tasks)>;

}  // namespace hone::loops

#endif  // HONE_CORE_NATIVE_KERNEL_H_
