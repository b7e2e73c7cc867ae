// An example: learns nothing.
#ifndef HONE_LEARN_IDLE_H_
#define HONE_LEARN_IDLE_H_

#include <memory>

#include "learn/learner.h"

namespace hone::learn {

std::unique_ptr<Learner> MakeIdle(std::shared_ptr<Task> task, const Config& config);

}  // namespace hone::learn

#endif  // HONE_LEARN_IDLE_H_
