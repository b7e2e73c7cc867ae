// The custom call `hone_loops` (core/native_kernel.h), as XLA's typed foreign-function interface
// has it.
#ifndef HONE_COMPILER_NATIVE_HANDLER_H_
#define HONE_COMPILER_NATIVE_HANDLER_H_

#include "xla/ffi/api/c_api.h"

namespace hone::native {

// Runs the kernel that the call names on the call's own buffers, none of them copied, on XLA's
// thread pool where the call has one. A call whose kernel is not here is an error that says so.
XLA_FFI_Error* RunKernel(XLA_FFI_CallFrame* frame);

}  // namespace hone::native

#endif  // HONE_COMPILER_NATIVE_HANDLER_H_
