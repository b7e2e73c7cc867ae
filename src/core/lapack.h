// The shared objects that may hold the machine's LAPACK, best first: what the worker loads, and
// what `hone doctor` looks for.
#ifndef HONE_CORE_LAPACK_H_
#define HONE_CORE_LAPACK_H_

#include <string>
#include <vector>

namespace hone {

// Names that are the same in every distribution: with BLAS and LAPACK in one, or LAPACK over a
// BLAS.
inline std::vector<std::string> LapackLibraries() { return {"libopenblas.so.0", "liblapack.so.3"}; }

// The package of a Debian or Ubuntu that has them.
inline constexpr const char* kLapackPackage = "libopenblas0-pthread";

}  // namespace hone

#endif  // HONE_CORE_LAPACK_H_
