// XLA:GPU's back end without a GPU: the kernels of an optimised module as PTX. NVIDIA's assembler
// makes machine code of it, in a process of its own (hone kernels): a worker may start none.
#ifndef HONE_COMPILER_GPU_PTX_H_
#define HONE_COMPILER_GPU_PTX_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/compiler.h"

namespace hone::compiler::gpu {

// Where NVIDIA's bitcode of exp, sin and the like is looked for: cuda/ beside XLA's libraries,
// which `setup/install --ptxas` makes.
std::string LibdeviceFolder();

// `options`: with the device described. What calls libraries is not in it. Errors: XLA's own; what
// is said where libdevice is wanted and not there.
absl::StatusOr<std::string> GeneratePtx(xla::Compiler& compiler,
                                        std::unique_ptr<xla::HloModule> optimised,
                                        const xla::Compiler::CompileOptions& options);

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_PTX_H_
