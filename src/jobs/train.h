// A policy learnt by acting on programs: `hone train`. It links torch, so it is a library of its
// own.
#ifndef HONE_JOBS_TRAIN_H_
#define HONE_JOBS_TRAIN_H_

#include <cstdint>
#include <string>

#include "jobs/cluster.h"
#include "jobs/events.h"
#include "jobs/input.h"
#include "jobs/training.h"
#include "jobs/workers.h"
#include "learn/imitation.h"

namespace hone::jobs {

struct TrainOptions : TrainingOptions {
  ProgramSet programs;
  ClusterOptions cluster;
  std::string features = "hone";
  std::string objective = "op_count";
  std::string actions = "simplify";
  std::string reward = "headroom";  // or "change" or "level"
  double shaping = 0;
  int traj_limit = 64;
  bool use_table = true;
  // A file of `hone eval -o`, whose best sequences are imitated before acting; "" is none. Not
  // where it is resumed.
  std::string imitate;
  learn::ImitationOptions imitation;
};

struct TrainResult : Trained {
  int64_t imitated = 0;  // demonstrated actions
  learn::Imitated imitation;
  size_t transitions = 0;
  size_t programs = 0;
};

// Once interrupted, what was learnt is kept.
FileOr<TrainResult> Train(const TrainOptions& options, const WorkerOptions& workers,
                          Events& events);

Json ToJson(const TrainResult& result, const TrainOptions& options);

struct ActResult {
  int64_t steps = 0;
  double steps_per_second = 0;
};
// Acts at random and learns nothing: the environment's own speed.
FileOr<ActResult> ActAtRandom(const TrainOptions& options, const WorkerOptions& workers,
                              Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_TRAIN_H_
