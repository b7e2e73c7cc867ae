// hone train --loops: a policy learnt by scheduling loop nests.
#ifndef HONE_CLI_TRAIN_LOOPS_H_
#define HONE_CLI_TRAIN_LOOPS_H_

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "core/result.h"
#include "jobs/train_loops.h"

namespace hone::cli {

struct LoopsTrainingOptions {
  bool on = false;
  size_t drawn = 0;
  std::string measure = "time";
  int steps_a_nest = loops::LoopsEnvOptions{}.steps_a_nest;
};

// To an app that has all its other options: those that make no sense with --loops are refused then.
void AddLoopsTraining(CLI::App& app, LoopsTrainingOptions& options);

// The environment's options; `tasks` are as named. Errors: what is no task, with its name.
tl::expected<jobs::TrainLoopsOptions, jobs::FileError> LoopsJobFor(
    const LoopsTrainingOptions& options, const std::vector<std::string>& tasks, int64_t seed,
    bool sandbox);

}  // namespace hone::cli

#endif  // HONE_CLI_TRAIN_LOOPS_H_
