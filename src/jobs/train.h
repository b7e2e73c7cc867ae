// A policy learnt by acting on programs: `hone train`. It links torch, so it is a library of its
// own.
#ifndef HONE_JOBS_TRAIN_H_
#define HONE_JOBS_TRAIN_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "env/session.h"
#include "jobs/events.h"
#include "learn/config.h"
#include "learn/imitation.h"
#include "report/evaluation.h"

namespace hone::jobs {

struct SequenceToImitate {
  std::string program;  // a name of TrainOptions::programs
  std::vector<std::string> passes;
};

// The sequences that did best on each of the programs, from rows of `hone eval -o`: of a program's
// rows with passes those of the lowest result, each sequence once. Rows of other programs are left
// out. Errors: no row is left; rows of another objective or action set.
StatusOr<std::vector<SequenceToImitate>> BestSequences(const std::vector<report::Evaluation>& rows,
                                                       const std::vector<ProgramSource>& programs,
                                                       Objective objective,
                                                       const std::string& actions);

struct TrainOptions {
  std::vector<ProgramSource> programs;
  PoolOptions pool;
  std::string algorithm = "ppo";
  std::string preset = "hone";
  learn::Config config;  // MakeConfig
  int64_t seed = 1;      // for the policy's card, and of ActAtRandom
  std::string features = "hone";
  Objective objective = Objective::kOpCount;
  std::string actions = "simplify";
  std::string reward = "headroom";  // or "change" or "level"
  double shaping = 0;
  int traj_limit = 64;
  int64_t environments = 16;
  double seconds = std::numeric_limits<double>::infinity();
  int threads = 1;  // of torch; with one, equal seeds give equal bits
  bool use_table = true;
  double checkpoint_seconds = 120;
  std::string log;                         // a folder for metrics and checkpoint; "" writes none
  std::string resume;                      // a checkpoint to go on from
  std::vector<SequenceToImitate> imitate;  // before acting; not where it is resumed
  learn::ImitationOptions imitation;
  std::string output;  // the policy file; "" writes none
  // Writes a whole file. The policy and the curve are written at each checkpoint and at the end.
  std::function<Status(const std::string& file, const std::string& bytes)> write;
};

struct TrainResult {
  int64_t steps = 0;     // over all runs of the learner
  int64_t taken = 0;     // in this one
  int64_t imitated = 0;  // demonstrated actions
  learn::Imitated imitation;
  double seconds = 0;
  double steps_per_second = 0;
  double episode_return = 0;  // the mean of the last tenth of the updates; NaN where there is none
  size_t transitions = 0;
  size_t programs = 0;
};

// The algorithm's preset with these settings, "KEY=VALUE", in place of its own.
StatusOr<learn::Config> MakeConfig(const std::string& algorithm, const std::string& preset,
                                   int64_t seed, int64_t steps,
                                   const std::vector<std::string>& settings);

// Once interrupted, what was learnt is kept.
tl::expected<TrainResult, FileError> Train(TrainOptions options, Events& events);

struct ActResult {
  int64_t steps = 0;
  double steps_per_second = 0;
};
// Acts at random and learns nothing: the environment's own speed.
StatusOr<ActResult> ActAtRandom(TrainOptions options, Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_TRAIN_H_
