// The programs and files that a user names on the command line.
#ifndef HONE_CLI_INPUT_H_
#define HONE_CLI_INPUT_H_

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "jobs/input.h"

namespace hone::cli {

using jobs::ExpandInputs;
using jobs::FileError;
using jobs::FindDatasets;
using jobs::FindInput;
using jobs::LoadProgram;
using jobs::ReadInput;

// `--datasets FOLDER`, for what takes programs by name.
void AddDatasetsOption(CLI::App& app, std::vector<std::string>& folders);

}  // namespace hone::cli

#endif  // HONE_CLI_INPUT_H_
