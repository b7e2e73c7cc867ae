// Inputs that programs are compared on: how many sets are generated, and which somebody gives.
#ifndef HONE_CLI_GIVEN_INPUTS_H_
#define HONE_CLI_GIVEN_INPUTS_H_

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/result.h"
#include "wire/pool.h"

namespace hone::cli {

struct InputsOption {
  std::vector<std::string> texts;  // as given: a number, or files

  // Into the options: how many, and the files' arrays in the order of the program's parameters. A
  // module of a recording brings the inputs that were kept beside it. Errors: kInvalidInput, naming
  // file, array, and the shape and type that are expected.
  Status Read(Pool& pool, const ProgramInfo& program, const std::string& path,
              CompareOptions* compare) const;
};

// --inputs N|FILE.npz; what is neither is a CLI::ValidationError.
void AddInputsOption(CLI::App& app, InputsOption& option);

}  // namespace hone::cli

#endif  // HONE_CLI_GIVEN_INPUTS_H_
