// A policy learnt by acting on programs: `hone train`. It links torch, so it is a library of its
// own.
#ifndef HONE_JOBS_TRAIN_H_
#define HONE_JOBS_TRAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "env/session.h"
#include "jobs/events.h"
#include "jobs/training.h"
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

struct TrainOptions : TrainingOptions {
  std::vector<ProgramSource> programs;
  PoolOptions pool;
  std::string features = "hone";
  Objective objective = Objective::kOpCount;
  std::string actions = "simplify";
  std::string reward = "headroom";  // or "change" or "level"
  double shaping = 0;
  int traj_limit = 64;
  bool use_table = true;
  std::vector<SequenceToImitate> imitate;  // before acting; not where it is resumed
  learn::ImitationOptions imitation;
};

struct TrainResult : Trained {
  int64_t imitated = 0;  // demonstrated actions
  learn::Imitated imitation;
  size_t transitions = 0;
  size_t programs = 0;
};

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
