// Decisions of the stock XLA:GPU pipeline about one instruction each (choices_intercept.cc).
#ifndef HONE_COMPILER_GPU_CHOICES_INTERCEPT_H_
#define HONE_COMPILER_GPU_CHOICES_INTERCEPT_H_

#include "xla/stream_executor/device_description.h"

namespace hone::compiler::gpu {

// Of a dot: the pass that makes fusions for Triton runs only where its flag is set.
extern const char* const kTriton;

// While it lives, this thread compiles for such a GPU: what Triton takes depends on it.
class ScopedCapability {
 public:
  explicit ScopedCapability(const stream_executor::GpuComputeCapability& of);
  ~ScopedCapability();
  ScopedCapability(const ScopedCapability&) = delete;
  ScopedCapability& operator=(const ScopedCapability&) = delete;
};

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_CHOICES_INTERCEPT_H_
