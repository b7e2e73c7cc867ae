// Advantage actor-critic, synchronous (Mnih et al. 2016), as stable-baselines3 has it.
#ifndef HONE_LEARN_A2C_H_
#define HONE_LEARN_A2C_H_

#include <memory>

#include "learn/learner.h"

namespace hone::learn {

std::unique_ptr<Learner> MakeA2c(std::shared_ptr<Task> task, const Config& config);

}  // namespace hone::learn

#endif  // HONE_LEARN_A2C_H_
