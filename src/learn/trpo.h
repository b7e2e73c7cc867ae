// Trust region policy optimisation (Schulman et al. 2015), as sb3-contrib has it: the natural
// gradient by conjugate gradients, a line search, and the value network fitted by Adam.
#ifndef HONE_LEARN_TRPO_H_
#define HONE_LEARN_TRPO_H_

#include <memory>

#include "learn/learner.h"

namespace hone::learn {

std::unique_ptr<Learner> MakeTrpo(std::shared_ptr<Task> task, const Config& config);

}  // namespace hone::learn

#endif  // HONE_LEARN_TRPO_H_
