// empty_kernel.ll as LLVM bitcode; 0 bytes on machines other than x86-64.
#ifndef HONE_COMPILER_KERNELS_EMPTY_KERNEL_H_
#define HONE_COMPILER_KERNELS_EMPTY_KERNEL_H_

#include <cstddef>

namespace hone::compiler {

extern const unsigned char kEmptyKernel[];
extern const size_t kEmptyKernelBytes;

}  // namespace hone::compiler

#endif  // HONE_COMPILER_KERNELS_EMPTY_KERNEL_H_
