// Proximal policy optimisation (Schulman et al. 2017), clipped, as stable-baselines3 has it.
#ifndef HONE_LEARN_PPO_H_
#define HONE_LEARN_PPO_H_

#include <memory>

#include "learn/learner.h"

namespace hone::learn {

std::unique_ptr<Learner> MakePpo(std::shared_ptr<Task> task, const Config& config);

}  // namespace hone::learn

#endif  // HONE_LEARN_PPO_H_
