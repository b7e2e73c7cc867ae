// The reward of a step, computed as RewardOptions say.
#ifndef HONE_ENV_REWARD_H_
#define HONE_ENV_REWARD_H_

#include "core/metrics.h"
#include "env/options.h"
#include "env/session.h"

namespace hone {

struct PaidStep {
  Metrics before;
  Metrics after;
  bool terminated = false;  // the episode ended here, and not for its length
  bool over = false;        // it ended, for whatever reason
  bool failed = false;
  double run_seconds = -1;  // of a run of `after`; -1 where not measured
};

double RewardOf(const RewardOptions& reward, const EnvProgram& program, const PaidStep& step);

}  // namespace hone

#endif  // HONE_ENV_REWARD_H_
