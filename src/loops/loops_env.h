// Schedules as a reinforcement-learning environment, after the published one for MLIR (Bendib et
// al., "A Reinforcement Learning Environment for Automatic Code Optimization in the MLIR Compiler",
// 2024): an operation's loops are transformed in at most five steps, and the reward is the
// logarithm of the speed-up. Here a task has several nests, and a step is about one of them.
#ifndef HONE_LOOPS_LOOPS_ENV_H_
#define HONE_LOOPS_LOOPS_ENV_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loops/catalogue.h"
#include "loops/generator.h"
#include "loops/observe.h"

namespace hone::loops {

struct LoopsEnvOptions {
  std::vector<std::string> tasks;  // ParseTask
  int steps_a_nest = 5;
  bool immediate = true;  // the reward of each step; else of all at the end
  bool estimate = false;  // of EstimatedCost, the same everywhere, in place of measured time
  Machine machine;
  double failure = 0;  // subtracted where MLIR rejects a decision
  bool sandbox = true;
  std::string program_path;  // GeneratorOptions
};

struct LoopsOutcome {
  double reward = 0;
  bool terminated = false;  // stop, or nothing is left to decide
  bool truncated = false;   // out of steps
  bool changed = false;
  std::string error;  // why a decision was not made; the state is as it was
};

// All that the further steps of an environment depend on.
struct LoopsEpisode {
  size_t next = 0;  // the task of the next episode
  size_t task = 0;
  bool running = false;
  std::string schedule;  // ScheduleText
  std::vector<int64_t> history;
  double initial = 0, value = 0;  // logarithms of the time
};

class LoopsEnv {
 public:
  // Errors: no task; a text that is none; there is no hone-loops.
  static StatusOr<std::unique_ptr<LoopsEnv>> Make(const LoopsEnvOptions& options);
  // A new environment of the same tasks and options, by the same hone-loops: for one thread.
  std::unique_ptr<LoopsEnv> Another() const;

  // With a seed: as a new environment with that seed. Tasks come in turn unless one is given.
  Status Reset(std::optional<uint64_t> seed, std::optional<size_t> task);
  // A number below sites() * kStepKinds * Catalogue::kEach, or the one after them: stop.
  // Errors: an action that there is not, an episode that is over.
  StatusOr<LoopsOutcome> Step(int64_t action);
  // The same as a product: a site, a kind (the one after all: stop), and a number for each of
  // kSeenLoops loops. Of tiles and blocks: 0, the loop is not tiled, i: by its i-th divisor. Of
  // interchange: the loops are sorted by their numbers. Of fuse and unroll: the first counts nests,
  // or 2, 4, 8.
  StatusOr<LoopsOutcome> StepProduct(const std::vector<int64_t>& action);
  static constexpr size_t kProductChoices = 16;

  LoopsEpisode episode() const;
  // Goes on as the environment of the same tasks that this is an episode of. Nothing is measured.
  // Errors: an episode of other tasks.
  Status Resume(const LoopsEpisode& episode);

  size_t sites() const { return shared_->sites; }  // the most that a task has
  size_t actions() const { return sites() * kStepKinds * Catalogue::kEach + 1; }
  std::vector<bool> ActionMask() const;
  // For each subspace what is legal for some choice of the others: sites, kinds + 1, then loops.
  std::vector<bool> ProductMask() const;

  // Rows of observe.h, one a site: [sites, kSeenLoops, kLoopFeatures]
  std::vector<float> LoopFeatures() const;
  // [sites, kSeenAccesses, kSeenDimensions, kSeenLoops]
  std::vector<float> Accesses() const;
  // [sites, kSeenScalars]
  std::vector<float> Operations() const;
  // [sites, kStateFeatures]
  std::vector<float> States() const;
  // [sites, sites]: 1 where the nest of the row takes what the one of the column makes
  std::vector<float> Graph() const;
  // Actions so far, as numbers of the flat space, then -1: [most_steps()]
  std::vector<int64_t> History() const;
  size_t most_steps() const { return shared_->most_steps; }  // of any task

  const Task& task() const { return shared_->tasks[current_]; }
  const Catalogue& catalogue() const { return shared_->catalogues[current_]; }
  size_t task_index() const { return current_; }
  size_t tasks() const { return shared_->tasks.size(); }
  bool running() const { return running_; }
  // Speed-up over plain loops so far.
  double speedup() const;
  const Scheduled& scheduled() const { return *scheduled_; }
  const Schedule& schedule() const { return scheduled_->schedule(); }
  int64_t restarts() const {
    return shared_->generator == nullptr ? 0 : shared_->generator->restarts();
  }

 private:
  struct Shared {
    LoopsEnvOptions options;
    std::vector<Task> tasks;
    std::vector<Catalogue> catalogues;
    std::unique_ptr<Generator> generator;  // null where times are estimated
    size_t sites = 0;
    size_t most_steps = 0;
  };

  explicit LoopsEnv(std::shared_ptr<const Shared> shared);
  StatusOr<LoopsOutcome> Take(const std::optional<loops::Step>& step, int64_t number, bool stop,
                              const std::string& why);
  // The logarithm of the time, up to a constant of the task.
  StatusOr<double> Value(const Scheduled& scheduled);
  const LoopsEnvOptions& options() const { return shared_->options; }
  int SiteAt(size_t row) const;  // index of a nest as it stands now; -1
  size_t StepLimit() const;
  std::vector<float> Rows(size_t width, void (*observe)(const Scheduled&, size_t, float*)) const;

  const std::shared_ptr<const Shared> shared_;
  size_t next_ = 0;
  size_t current_ = 0;
  bool running_ = false;
  std::unique_ptr<Scheduled> scheduled_;
  std::vector<int64_t> history_;
  double initial_ = 0;
  double value_ = 0;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOOPS_ENV_H_
