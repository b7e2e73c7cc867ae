// An optimised module of XLA:GPU as a program that any back end takes.
#ifndef HONE_COMPILER_GPU_PLAIN_H_
#define HONE_COMPILER_GPU_PLAIN_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler::gpu {

// Takes fusions apart, says library calls (library_calls.h) and bitcasts, whose meaning hangs on
// layouts, in operations that know none, and forgets layouts but the entry's. It computes what it
// computed. Error: a call or bitcast whose meaning is not known; the module is then half-changed.
absl::Status MakePlain(xla::HloModule& module);

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_PLAIN_H_
