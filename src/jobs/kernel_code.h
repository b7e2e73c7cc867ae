// The kernels of a program for a GPU as machine code: what the assembler says of each.
#ifndef HONE_JOBS_KERNEL_CODE_H_
#define HONE_JOBS_KERNEL_CODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compile_plan.h"

namespace hone::jobs {

// As `ptxas -v` tells it.
struct Resources {
  int64_t registers = 0;     // a thread
  int64_t stack_bytes = 0;   // a thread
  int64_t spill_stores = 0;  // bytes a thread
  int64_t spill_loads = 0;   // bytes a thread
  int64_t shared_bytes = 0;  // a block
};

struct KernelCode {
  std::string name;     // of the entry
  int64_t threads = 0;  // a block, at most; 0 where the code does not say
  // Where it was assembled.
  std::optional<Resources> resources;
  // By XLA's model; none where no instruction of the optimised module has this name.
  std::optional<KernelTime> estimate;
};

// "sm_90a", of PTX's .target; "" where there is none.
std::string ArchitectureOf(std::string_view ptx);

// The entries of PTX, in its order; `said`: what `ptxas -v` says of it, or nothing; `times`: the
// estimates by instructions' names, of which XLA makes entries' by putting '_' for what is no
// letter, digit or '_'.
std::vector<KernelCode> KernelsOf(std::string_view ptx, std::string_view said,
                                  const std::vector<KernelTime>& times);

}  // namespace hone::jobs

#endif  // HONE_JOBS_KERNEL_CODE_H_
