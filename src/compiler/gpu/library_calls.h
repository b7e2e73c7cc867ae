// What XLA:GPU has libraries compute, as plain HLO.
#ifndef HONE_COMPILER_GPU_LIBRARY_CALLS_H_
#define HONE_COMPILER_GPU_LIBRARY_CALLS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler::gpu {

// Replaces calls of cuBLAS (gemm, lt$matmul, triangularSolve), cuDNN (convolutions: forward, with
// bias and activation, backward by input and by filter) and cuSOLVER (cholesky) in place by dots,
// convolutions, solves and what is done with their results; workspaces are zeros. The reverse of
// XLA's GemmRewriter, ConvRewriter, CudnnFusedConvRewriter, TriangularSolveRewriter and cuSOLVER
// rewriter. Error: kUnimplemented with the target of a call that is none of these; the module is
// then half-changed.
absl::Status ReplaceLibraryCalls(xla::HloModule& module);

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_LIBRARY_CALLS_H_
