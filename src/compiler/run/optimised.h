// Modules that XLA:CPU's passes have been run on and that no code was made of: where a compilation
// was ended to see what it would make, the next of the same program under the same plan goes on.
#ifndef HONE_COMPILER_RUN_OPTIMISED_H_
#define HONE_COMPILER_RUN_OPTIMISED_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/fingerprint.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

struct OptimisedModule {
  std::unique_ptr<xla::HloModule> module;  // null: none
  uint64_t applied = 0;                    // CompileDecider's
  uint64_t hidden = 0;
};

// From any thread. `key` is an ExecutableKey; of `bytes`, about. The last few are kept.
void KeepOptimised(const Fingerprint& key, OptimisedModule optimised, size_t bytes);
// It is the caller's then.
OptimisedModule TakeOptimised(const Fingerprint& key);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_OPTIMISED_H_
