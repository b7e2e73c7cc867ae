// The tasks of a program: what hone-loops would make kernels of, as files for `hone loops` and
// hone/Loops-v0.
#ifndef HONE_JOBS_EXTRACT_LOOPS_H_
#define HONE_JOBS_EXTRACT_LOOPS_H_

#include <string>
#include <vector>

#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"
#include "loops/task.h"

namespace hone::jobs {

struct ExtractLoopsOptions {
  std::string file;    // a program
  std::string plan;    // a file, whose passes put the kernels in; "": all passes that make kernels
  std::string folder;  // where the tasks are written, a file each; "" writes none
};

struct ExtractedTask {
  std::string name;  // and of the file: `name.task`
  std::string kind;  // of its last operation that is more than elementwise or a movement
  loops::Task task;
};

// Each task once, those of most work first. Errors: the program or the plan cannot be read; a file
// cannot be written.
FileOr<std::vector<ExtractedTask>> ExtractLoops(const ExtractLoopsOptions& options,
                                                const WorkerOptions& workers, Events& events);
Json ToJson(const std::vector<ExtractedTask>& tasks, const ExtractLoopsOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_EXTRACT_LOOPS_H_
