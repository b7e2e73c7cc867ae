// A program's tasks, tuned one by one: a kernel, or a few that belong together, is a program of its
// own that takes milliseconds to compile and run, so that hundreds of ways are tried in the time of
// one evaluation of the whole. (TVM's tasks: Chen et al., "Learning to Optimize Tensor Programs",
// NeurIPS 2018; XTAT's node level.)
#ifndef HONE_TUNE_TASKS_H_
#define HONE_TUNE_TASKS_H_

#include <functional>
#include <string>
#include <vector>

#include "core/program_task.h"
#include "core/race.h"
#include "tune/evaluator.h"
#include "tune/space.h"
#include "tune/tune_program.h"

namespace hone::tune {

// Times each task and tunes the dearest first, each for about as much of `seconds` as it takes of a
// run of the program, which takes `run_seconds`. `tuning` says what may be decided, what is known
// and who is told; `stopped` ends it.
std::vector<TaskReport> TuneTasks(Evaluator& evaluator, const std::vector<ProgramTask>& tasks,
                                  const TuneOptions& tuning, double run_seconds, double seconds,
                                  const std::function<bool()>& stopped);

// The share of the whole run that a choice saves by the trials, below 0 where it costs time; only
// tasks whose interval is clear count.
struct Expected {
  bool tried = false;  // in some task
  double saved = 0;
};
Expected ExpectedOf(const std::vector<TaskReport>& tasks, const std::string& name,
                    const std::string& value);

// Plans for the whole, put together from the choices that won in tasks: all of them, then without
// flags, then implementations alone. None where no such choice is in the space.
std::vector<TunePlan> Compose(const Space& space, const std::vector<TaskReport>& tasks);

}  // namespace hone::tune

#endif  // HONE_TUNE_TASKS_H_
