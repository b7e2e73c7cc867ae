// A Python script with hone's hook in it.
#ifndef HONE_CLI_PYTHON_H_
#define HONE_CLI_PYTHON_H_

#include <string>
#include <vector>

namespace hone::cli {

// Becomes the command, with hone's hook in its Python: `job` is "record" or "with", and `argument`
// that job's folder or store. Returns an exit code where it could not, the error told.
int BecomeScript(const std::string& job, const std::string& argument,
                 const std::vector<std::string>& command);

}  // namespace hone::cli

#endif  // HONE_CLI_PYTHON_H_
