// The Python half of hone, called from the command line: what only JAX can do.
#ifndef HONE_CLI_PYTHON_H_
#define HONE_CLI_PYTHON_H_

#include <cstddef>
#include <string>
#include <vector>

#include "cli/child.h"
#include "core/result.h"

namespace hone::cli {

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
bool NeedsLowering(const std::string& given);

// The serialized HloModuleProto of such, by the python3 that is first in PATH.
StatusOr<std::string> Lower(const std::string& given, size_t most_bytes);

// Becomes the command, with hone's hook in its Python: `job` is "record" or "with", and `argument`
// that job's folder or store. Returns an exit code where it could not, the error told.
int BecomeScript(const std::string& job, const std::string& argument,
                 const std::vector<std::string>& command);

}  // namespace hone::cli

#endif  // HONE_CLI_PYTHON_H_
