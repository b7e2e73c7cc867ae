// The Python half of hone: where its package is, and its modules as programs.
#ifndef HONE_JOBS_PACKAGE_H_
#define HONE_JOBS_PACKAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/result.h"
#include "jobs/child.h"

namespace hone::jobs {

// In the package's folder: what a Python with hone's hook reads first.
inline constexpr char kHook[] = "hone/jax/site";

// The folder that holds the package `hone`: beside this executable's, in a source tree or where the
// package is installed. Errors: there is none.
StatusOr<std::string> PackageFolder();

// The python of the environment that the package is installed in, else the python3 that is first in
// PATH.
std::string PackagePython();

// $PYTHONPATH with this folder before what is in it.
std::string PythonPathWith(const std::string& first);

// `python -m MODULE ARGUMENTS…` with the package in its path, waited for. Its stderr is kept, or
// goes to ours with `show`. Errors: there is no such python.
StatusOr<Finished> RunModule(const std::string& python, const std::string& module,
                             const std::vector<std::string>& arguments, bool show);

// A StableHLO file, *.mlir, or a function of JAX, FILE.py:FUNCTION or FILE.py:FUNCTION(SHAPES).
// Bytecode may have any name: ReadInput knows it by its beginning.
bool NeedsLowering(const std::string& given);

// The serialized HloModuleProto of such, by the python3 that is first in PATH.
StatusOr<std::string> Lower(const std::string& given, size_t most_bytes);

}  // namespace hone::jobs

#endif  // HONE_JOBS_PACKAGE_H_
