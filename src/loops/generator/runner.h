// A kernel in machine code has one entry, `void hone_kernel(void** buffers, const Runner* runner)`:
// inputs and then outputs, row-major, as the task lists them; outputs and inputs do not overlap. It
// keeps nothing between calls, and may be called by several threads at once. Beside libc's memory
// functions and libm it needs nothing.
#ifndef HONE_LOOPS_GENERATOR_RUNNER_H_
#define HONE_LOOPS_GENERATOR_RUNNER_H_

#include <cstdint>

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

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_RUNNER_H_
