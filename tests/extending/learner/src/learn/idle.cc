#include "learn/idle.h"

#include "learn/a2c.h"

namespace hone::learn {

std::unique_ptr<Learner> MakeIdle(std::shared_ptr<Task> task, const Config& config) {
  Config still = config;
  still.learning_rate = 0;
  return MakeA2c(std::move(task), still);
}

}  // namespace hone::learn
