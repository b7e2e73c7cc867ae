// The custom calls that jaxlib registers for CPUs, made known to this process's XLA.
//
// Linear algebra goes to the machine's LAPACK (lapack_library.h); names, operands, results and
// attributes are jaxlib's: a program means the same here as under JAX.
#ifndef HONE_COMPILER_CUSTOM_CALLS_CUSTOM_CALLS_H_
#define HONE_COMPILER_CUSTOM_CALLS_CUSTOM_CALLS_H_

#include <string>

namespace hone::compiler {

// Registers all that can run here: what LAPACK lacks, or all of it where there is none, is left
// out. Once per process, after LoadLapack.
void RegisterCustomCalls();

// Of jax.pure_callback, jax.debug.callback and io_callback on CPUs (jaxlib/ffi.cc).
inline constexpr const char* kPythonCallbacks[] = {"xla_ffi_python_cpu_callback",
                                                   "xla_ffi_partitioned_python_cpu_callback"};

// On GPUs, something in place of a call that nobody registers there, for a program that is compiled and not run.
void RegisterStandIn(const std::string& target);

// What to do about a custom call that is not there: a package to install, or empty where there is
// none.
std::string HowToGetCustomCall(const std::string& target);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_CUSTOM_CALLS_H_
