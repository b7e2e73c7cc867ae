// A policy learnt by scheduling loop nests: `hone train --loops`. It links torch, so it is a
// library of its own.
#ifndef HONE_JOBS_TRAIN_LOOPS_H_
#define HONE_JOBS_TRAIN_LOOPS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/training.h"
#include "loops/loops_env.h"

namespace hone::jobs {

struct TrainLoopsOptions : TrainingOptions {
  std::vector<std::string> tasks;  // files, or tasks that come with hone
  size_t drawn = 0;                // so many besides, by the seed
  std::string measure = "time";    // or "estimate"
  int steps_a_nest = loops::LoopsEnvOptions{}.steps_a_nest;
  bool sandbox = true;
};

struct LoopsTrained : Trained {
  size_t tasks = 0;
};

// Once interrupted, what was learnt is kept.
FileOr<LoopsTrained> TrainLoops(const TrainLoopsOptions& options, Events& events);

Json ToJson(const LoopsTrained& trained, const TrainLoopsOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_TRAIN_LOOPS_H_
