// Shared by the commands about tuned plans.
#ifndef HONE_CLI_TUNED_PROGRAM_H_
#define HONE_CLI_TUNED_PROGRAM_H_

#include <cstdint>
#include <string>

#include "cli/cluster.h"
#include "cli/common.h"
#include "jobs/open_program.h"
#include "tune/tune_plan.h"

namespace hone::cli {

// `device` is --device's, "" for none. Workers are the cluster's where there is one, which outlives
// what is opened.
jobs::OpenOptions OpenOptionsFor(const CommonOptions& options, const std::string& device,
                                 uint64_t seed, const Cluster* cluster = nullptr);

// Opens a file; errors name it.
tl::expected<jobs::OpenedProgram, FileError> OpenProgram(const CommonOptions& options,
                                                         const std::string& file,
                                                         const std::string& device, uint64_t seed);

// Reads a file; the empty plan where no file is named.
StatusOr<tune::TunePlan> ReadPlan(const std::string& file);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNED_PROGRAM_H_
