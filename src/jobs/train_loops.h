// A policy learnt by scheduling loop nests: `hone train --loops`. It links torch, so it is a
// library of its own.
#ifndef HONE_JOBS_TRAIN_LOOPS_H_
#define HONE_JOBS_TRAIN_LOOPS_H_

#include "jobs/events.h"
#include "jobs/training.h"
#include "loops/loops_env.h"

namespace hone::jobs {

struct TrainLoopsOptions : TrainingOptions {
  loops::LoopsEnvOptions env;
  // For the card: so many of the tasks were drawn, by this seed.
  size_t drawn = 0;
  uint64_t drawn_seed = 0;
};

// Once interrupted, what was learnt is kept.
tl::expected<Trained, FileError> TrainLoops(const TrainLoopsOptions& options, Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_TRAIN_LOOPS_H_
