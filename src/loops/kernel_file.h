// Kernels beside a program that calls them: machine code for one kind of processor, in one file.
//
//   hone kernels 1
//   processor NAME                        core/processor.h
//   kernel NAME BYTES BUFFER BUFFER ...   bytes of its object, and of each of its buffers
//   objects
//
// and then the objects, in this order. hone.jax and libhone_kernels.so read it.
#ifndef HONE_LOOPS_KERNEL_FILE_H_
#define HONE_LOOPS_KERNEL_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/native_kernel.h"

namespace hone::loops {

std::string KernelFile(const std::vector<NativeKernel>& kernels);

// The tasks of the custom calls of a program, as text or as a protocol buffer, each once; found by
// how calls of hone's begin and end.
std::vector<std::string> TasksIn(std::string_view program);

// Of `model.hlo` it is `model.hlo.kernels`.
inline std::string KernelPathOf(const std::string& program) { return program + ".kernels"; }

}  // namespace hone::loops

#endif  // HONE_LOOPS_KERNEL_FILE_H_
