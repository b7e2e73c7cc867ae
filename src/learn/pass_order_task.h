// Pass ordering (env/) as a task to learn on.
#ifndef HONE_LEARN_PASS_ORDER_TASK_H_
#define HONE_LEARN_PASS_ORDER_TASK_H_

#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "env/session.h"
#include "env/vector_env.h"
#include "learn/imitation.h"
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

// A program of the session, and actions by their place in session->actions().
struct ActionSequence {
  size_t program = 0;
  std::vector<int64_t> actions;
};

// The states that the sequences pass, seen as by the task, and the actions taken. An action that
// changes nothing is left out, and so is a program that cannot be loaded; no sequence is longer
// than an episode. Errors: as MakePassOrderTask; no action that changes anything.
StatusOr<Demonstrations> Demonstrate(std::shared_ptr<Session> session,
                                     const PassOrderTaskOptions& options,
                                     const std::vector<ActionSequence>& sequences, double gamma);

}  // namespace hone::learn

#endif  // HONE_LEARN_PASS_ORDER_TASK_H_
