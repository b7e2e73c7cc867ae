// What environments over schedules share: the tasks, and workers that compile and time.
#ifndef HONE_LOOPS_LOOPS_SESSION_H_
#define HONE_LOOPS_LOOPS_SESSION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loops/catalogue.h"
#include "loops/generator.h"

namespace hone::loops {

struct LoopsEnvOptions {
  std::vector<std::string> tasks;  // ParseTask
  int steps_a_nest = 5;
  bool immediate = true;  // the reward of each step; else of all at the end
  bool estimate = false;  // of EstimatedCost, the same everywhere, in place of measured time
  Machine machine;
  double failure = 0;    // subtracted where MLIR rejects a decision
  bool product = false;  // masks are those of a product of subspaces
  // Threads that steps are made on, each with its own hone-loops. What is timed on several at once
  // is timed on a busy machine.
  int workers = 1;
  bool sandbox = true;
  std::string program_path;  // GeneratorOptions
};

struct LoopsWorker {
  std::unique_ptr<Generator> generator;  // null where times are estimated
};

// Thread-safe. Environments keep it alive.
class LoopsSession {
 public:
  // Errors: no task; a text that is none; there is no hone-loops.
  static StatusOr<std::shared_ptr<LoopsSession>> Open(const LoopsEnvOptions& options);
  ~LoopsSession();  // does what was posted
  LoopsSession(const LoopsSession&) = delete;
  LoopsSession& operator=(const LoopsSession&) = delete;

  const LoopsEnvOptions& options() const { return options_; }
  const std::vector<Task>& tasks() const { return tasks_; }
  const std::vector<Catalogue>& catalogues() const { return catalogues_; }  // of the tasks
  size_t sites() const { return sites_; }            // the most that a task has
  size_t most_steps() const { return most_steps_; }  // of any task
  int workers() const { return static_cast<int>(threads_.size()); }
  // Whether a step is over sooner than a worker would have begun it.
  bool at_once() const { return options_.estimate && workers() == 1; }

  // Does a job on a worker's thread, one after the other.
  void Post(int worker, std::function<void(LoopsWorker&)> job);
  // Does it on the caller's thread, while the worker does nothing else.
  void Here(int worker, const std::function<void(LoopsWorker&)>& job);
  int64_t restarts() const;  // processes of hone-loops that were lost

 private:
  class Thread;
  explicit LoopsSession(const LoopsEnvOptions& options);

  const LoopsEnvOptions options_;
  std::vector<Task> tasks_;
  std::vector<Catalogue> catalogues_;
  size_t sites_ = 0;
  size_t most_steps_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOOPS_SESSION_H_
