// Shared by trainings in any environment: updates until the steps or the time are spent, the
// log, checkpoints, the policy file. It links torch, so it is a library of its own.
#ifndef HONE_JOBS_TRAINING_H_
#define HONE_JOBS_TRAINING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/json.h"
#include "learn/config.h"
#include "learn/learner.h"
#include "policy/policy_file.h"

namespace hone::jobs {

struct TrainingOptions {
  std::string algorithm = "ppo";
  std::string preset = "hone";
  std::vector<std::string> settings;  // "KEY=VALUE", in place of the preset's
  int64_t seed = 1;
  int64_t environments = 16;
  int64_t steps = 200'000;
  double seconds = std::numeric_limits<double>::infinity();
  int threads = 1;  // of torch; with one, equal seeds give equal bits
  double checkpoint_seconds = 120;
  std::string log;     // a folder for metrics and checkpoint; "" writes none
  std::string resume;  // a checkpoint to go on from
  // The policy file; "" writes none. It and the curve are written at each checkpoint and at the
  // end.
  std::string output;
};

// Called beside the updates.
struct TrainingHooks {
  std::function<Status(learn::Learner&)> begin;         // before the first update, unless resumed
  std::function<void(learn::Report&)> add_metrics;      // to what is logged of an update
  std::function<void(policy::PolicyFile&)> write_card;  // into the policy's metadata
};

struct Trained {
  int64_t steps = 0;  // over all runs of the learner
  int64_t taken = 0;  // in this one
  double seconds = 0;
  double steps_per_second = 0;
  double episode_return = 0;  // the mean of the last tenth of the updates; NaN where there is none
  learn::Config config;
};

// The algorithm's preset with the settings, which come after those that are `presumed`. Errors:
// also that the policy cannot be written.
StatusOr<learn::Config> MakeConfig(const TrainingOptions& options,
                                   const std::vector<std::string>& presumed = {});

// torch's threads and, behind its back, those of its BLAS.
void SetThreads(int threads);

// Seconds count from `start`. Once interrupted, what was learnt is kept.
FileOr<Trained> RunTraining(const TrainingOptions& options, const learn::Config& config,
                            const TrainingHooks& hooks, Events& events, learn::Learner& learner,
                            std::chrono::steady_clock::time_point start);

Json ToJson(const Trained& trained, const TrainingOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_TRAINING_H_
