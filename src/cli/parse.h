// Options that hold durations, sizes, budgets and inputs.
#ifndef HONE_CLI_PARSE_H_
#define HONE_CLI_PARSE_H_

#include <CLI/App.hpp>
#include <cstddef>
#include <string>

#include "jobs/given_inputs.h"
#include "jobs/quantities.h"

namespace hone::cli {

using jobs::Budget;
using jobs::ParseBudget;
using jobs::ParseDuration;
using jobs::ParseSize;

// Options that take such a value. What cannot be parsed is a CLI::ValidationError.
CLI::Option* AddDuration(CLI::App& app, const std::string& name, double& seconds,
                         const std::string& help);
CLI::Option* AddSize(CLI::App& app, const std::string& name, size_t& bytes,
                     const std::string& help);
// Also "0", for none.
CLI::Option* AddSizeOrNone(CLI::App& app, const std::string& name, size_t& bytes,
                           const std::string& help);
CLI::Option* AddBudget(CLI::App& app, const std::string& name, Budget& budget,
                       const std::string& help);

// --inputs N|FILE.npz, what programs are compared on.
void AddInputsOption(CLI::App& app, jobs::GivenInputs& inputs);

}  // namespace hone::cli

#endif  // HONE_CLI_PARSE_H_
