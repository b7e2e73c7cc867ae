// The tasks that come with hone.
#ifndef HONE_LOOPS_TASKS_H_
#define HONE_LOOPS_TASKS_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "loops/task.h"

namespace hone::loops {

struct KnownTask {
  std::string name;
  std::string kind;    // matmul, conv2d, pooling, add, relu, …
  std::string source;  // where its sizes are from
  std::string text;    // ParseTask
};

const std::vector<KnownTask>& KnownTasks();
const KnownTask* FindKnownTask(std::string_view name);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TASKS_H_
