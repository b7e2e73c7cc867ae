// Deep Q-learning (Mnih et al. 2015), as stable-baselines3 has it, but that each environment
// explores on its own. Options: double (van Hasselt et al. 2016), duelling (Wang et al. 2016),
// prioritised replay (Schaul et al. 2016) and n-step returns, as in Rainbow (Hessel et al. 2018).
#ifndef HONE_LEARN_DQN_H_
#define HONE_LEARN_DQN_H_

#include <memory>

#include "learn/learner.h"

namespace hone::learn {

std::unique_ptr<Learner> MakeDqn(std::shared_ptr<Task> task, const Config& config);

}  // namespace hone::learn

#endif  // HONE_LEARN_DQN_H_
