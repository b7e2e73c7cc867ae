// Schedules of loop nests (loops/loops_env.h) as a task to learn on.
#ifndef HONE_LEARN_LOOPS_TASK_H_
#define HONE_LEARN_LOOPS_TASK_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/result.h"
#include "learn/task.h"
#include "loops/loops_env.h"

namespace hone::learn {

struct LoopsTaskOptions {
  int64_t environments = 16;
  loops::LoopsEnvOptions env;
  const std::atomic<bool>* stop = nullptr;  // once set, a step is an error: kInterrupted
};

// Nests are decided about one after the other, each seen as by loops/site_view.h; an action is a
// decision about the nest at hand, or the next nest's turn, which takes no step of the environment;
// behind the last nest it stops. Each episode is of a task drawn at random. Errors:
// LoopsSession::Open.
StatusOr<std::unique_ptr<Task>> MakeLoopsTask(const LoopsTaskOptions& options);

}  // namespace hone::learn

#endif  // HONE_LEARN_LOOPS_TASK_H_
