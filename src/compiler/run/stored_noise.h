// Rounding noise on what an optimised program stores: weaker than noise within it
// (rounding_noise.h), but its kernels are those that are compiled already.
#ifndef HONE_COMPILER_RUN_STORED_NOISE_H_
#define HONE_COMPILER_RUN_STORED_NOISE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// A copy of what XLA:CPU's passes have made of a program, in which each array of floats that an
// instruction rounds and stores is moved in its place (custom_calls/stored_noise.h). Null where
// there is none. To be compiled as it is. Errors: XLA's.
absl::StatusOr<std::unique_ptr<xla::HloModule>> AddStoredNoise(const xla::HloModule& optimised);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_STORED_NOISE_H_
