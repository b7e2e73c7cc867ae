// Searchers, policies and coresets: those that come with hone, and those that a user names.
#ifndef HONE_CLI_MODELS_H_
#define HONE_CLI_MODELS_H_

#include <CLI/App.hpp>
#include <string>

#include "core/result.h"
#include "jobs/quantities.h"
#include "tune/coreset.h"
#include "tune/optimize.h"

namespace hone::cli {

// Models that a searcher may need beside the program.
struct ModelOptions {
  std::string policy;   // a path; "" is the one that comes with hone
  std::string coreset;  // likewise
};

using jobs::Budget;

void AddModelOptions(CLI::App& app, ModelOptions& options);

// --search, the name of a searcher.
CLI::Option* AddSearchOption(CLI::App& app, std::string& search, const std::string& help);

// A limit that was not given is none.
void SetBudget(const Budget& budget, OptimizeOptions& search);

// Fills in the policy and the coreset where the searcher needs them or where they were named.
// Errors: there is no such searcher; files that are missing or broken.
Status LoadModels(const ModelOptions& options, const std::string& searcher,
                  OptimizeOptions& search);

}  // namespace hone::cli

#endif  // HONE_CLI_MODELS_H_
