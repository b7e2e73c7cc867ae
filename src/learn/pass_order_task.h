// Pass ordering (env/) as a task to learn on.
#ifndef HONE_LEARN_PASS_ORDER_TASK_H_
#define HONE_LEARN_PASS_ORDER_TASK_H_

#include <memory>
#include <string>

#include "core/result.h"
#include "env/session.h"
#include "env/vector_env.h"
#include "learn/task.h"
#include "policy/features.h"

namespace hone::learn {

struct PassOrderTaskOptions {
  int64_t environments = 16;
  std::string features = "hone";  // policy/features.h
  bool value_features = false;    // the cost analysis, for value networks
  bool graphs = false;
};

// The session's options must show opcodes; cost where there are value features, the graph where
// there are graphs; and masks of the episode, so that a task that was restored goes on as it would
// have. Errors: a session without these, features that there are not.
StatusOr<std::unique_ptr<Task>> MakePassOrderTask(std::shared_ptr<Session> session,
                                                  const PassOrderTaskOptions& options);

}  // namespace hone::learn

#endif  // HONE_LEARN_PASS_ORDER_TASK_H_
