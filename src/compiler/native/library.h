// The C functions of libhone_kernels.so: custom calls `hone_loops` in any process that has an
// XLA:CPU.
//
//   handle = ctypes.PyDLL("libhone_kernels.so")
//   handle.hone_kernels_add(bytes, size, message, sizeof message)    # a file of kernels
//   jax.ffi.register_ffi_target("hone_loops", jax.ffi.pycapsule(handle.hone_loops), platform="cpu")
#ifndef HONE_COMPILER_NATIVE_LIBRARY_H_
#define HONE_COMPILER_NATIVE_LIBRARY_H_

#include <cstddef>
#include <string_view>

#include "core/result.h"
#include "xla/ffi/api/c_api.h"

namespace hone::native {

// Adds the kernels of a file that loops/kernel_file.h describes. Errors: it is no such file, it was
// made for another processor, a kernel cannot be loaded. Those before it are there, then.
Status AddKernelsOf(std::string_view file);

}  // namespace hone::native

extern "C" {

// The handler.
__attribute__((visibility("default"))) XLA_FFI_Error* hone_loops(XLA_FFI_CallFrame* frame);

// 0, or 1 and a message for people, cut to `room` bytes with the 0 at its end.
__attribute__((visibility("default"))) int hone_kernels_add(const char* file, size_t bytes,
                                                            char* message, size_t room);
}

#endif  // HONE_COMPILER_NATIVE_LIBRARY_H_
