// The actions of `hone dataset` that have a file of their own.
#ifndef HONE_CLI_DATASET_H_
#define HONE_CLI_DATASET_H_

#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "jobs/survey.h"

namespace hone::cli {

// For a survey of files of this folder.
StatusOr<jobs::SurveyOptions> SurveyOptionsFor(const CommonOptions& options,
                                               const std::string& folder);

Run AddDatasetIndex(CLI::App& app);
Run AddDatasetCheck(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_DATASET_H_
