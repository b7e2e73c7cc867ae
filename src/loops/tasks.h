// The tasks that come with hone, and others of their kinds by chance.
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
// Tasks of ten kinds in turn (those of the published set, then linear layers, softmax, layer norm,
// reductions and transposes), in sizes drawn by the seed; none twice.
std::vector<KnownTask> DrawTasks(size_t count, uint64_t seed);
const KnownTask* FindKnownTask(std::string_view name);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TASKS_H_
