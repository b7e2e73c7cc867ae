// Options of commands that search: searchers, models, budgets.
#ifndef HONE_CLI_MODELS_H_
#define HONE_CLI_MODELS_H_

#include <CLI/App.hpp>
#include <string>

#include "jobs/models.h"
#include "jobs/quantities.h"
#include "tune/optimize.h"

namespace hone::cli {

using jobs::Budget;
using jobs::LoadModels;
using jobs::ModelOptions;

void AddModelOptions(CLI::App& app, ModelOptions& options);

// --search, the name of a searcher.
CLI::Option* AddSearchOption(CLI::App& app, std::string& search, const std::string& help);

// A limit that was not given is none.
void SetBudget(const Budget& budget, OptimizeOptions& search);

}  // namespace hone::cli

#endif  // HONE_CLI_MODELS_H_
