// The actions of `hone dataset` that have a file of their own.
#ifndef HONE_CLI_DATASET_H_
#define HONE_CLI_DATASET_H_

#include "cli/commands.h"

namespace hone::cli {

Run AddDatasetIndex(CLI::App& app);
Run AddDatasetCheck(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_DATASET_H_
