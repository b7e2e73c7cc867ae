// The machine's LAPACK, for the custom calls that JAX makes of linear algebra.
//
// It lives in a shared object of its own: XLA's libraries hold other BLAS-like code, so its symbols
// are kept from theirs (RTLD_LOCAL) and theirs from its (RTLD_DEEPBIND), and its functions are
// found by name.
#ifndef HONE_COMPILER_CUSTOM_CALLS_LAPACK_LIBRARY_H_
#define HONE_COMPILER_CUSTOM_CALLS_LAPACK_LIBRARY_H_

#include <string>
#include <vector>

#include "core/lapack.h"

namespace hone::compiler {

// Loads the first of these that is there, for one thread: sums keep their order, and
// a race measures nobody else's cores. Two milliseconds. To be called before there are other
// threads (it sets the environment for a moment, for OpenBLAS starts its threads while it is
// loaded), and before the process is locked up. Later calls do nothing.
void LoadLapack(const std::vector<std::string>& libraries = LapackLibraries());

// Whether there is one.
bool HasLapack();

// What to do where there is none.
std::string HowToGetLapack();

// A Fortran function of it, such as "dgetrf_"; null where there is no library or it lacks the
// function.
void* LapackFunction(const std::string& name);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_LAPACK_LIBRARY_H_
