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
#include <variant>
#include <vector>

#include "env/vector_of.h"
#include "loops/loops_session.h"
#include "loops/observe.h"

namespace hone::loops {

struct LoopsOutcome {
  double reward = 0;
  bool terminated = false;  // stop, or nothing is left to decide
  bool truncated = false;   // out of steps
  bool changed = false;
  std::string error;  // why a decision was not made; the state is as it was
};

// What an agent sees of an episode: rows of observe.h, one a site.
struct LoopsView {
  size_t task = 0;
  double speedup = 1;  // over plain loops so far
  std::string schedule;
  std::vector<bool> mask;         // of the flat space, or of the product: `product`
  std::vector<float> loops;       // [sites, kSeenLoops, kLoopFeatures]
  std::vector<float> accesses;    // [sites, kSeenAccesses, kSeenDimensions, kSeenLoops]
  std::vector<float> operations;  // [sites, kSeenScalars]
  std::vector<float> states;      // [sites, kStateFeatures]
  // [sites, sites]: 1 where the nest of the row takes what the one of the column makes
  std::vector<float> graph;
  // Actions so far, as numbers of the flat space, then -1: [most_steps()]
  std::vector<int64_t> history;
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

// A number below sites() * kStepKinds * Catalogue::kEach, or the one after them: stop.
// Or the same as a product: a site, a kind (the one after all: stop), and a number for each of
// kSeenLoops loops. Of tiles and blocks: 0, the loop is not tiled, i: by its i-th divisor. Of
// interchange: the loops are sorted by their numbers. Of fuse and unroll: the first counts nests,
// or 2, 4, 8.
using LoopsAction = std::variant<int64_t, std::vector<int64_t>>;

class LoopsEnv {
 public:
  using Session = LoopsSession;
  using Worker = LoopsWorker;
  using Action = LoopsAction;
  static constexpr size_t kProductChoices = 16;

  // Number `index` of those that share the session; it works on one worker of it, and begins with
  // the task of that number.
  explicit LoopsEnv(std::shared_ptr<LoopsSession> session, size_t index = 0);
  LoopsEnv Fork() const { return *this; }

  // A whole reset, a whole step: for whoever leads one. With a seed: as a new environment with that
  // seed. Tasks come in turn unless one is given.
  Status Reset(std::optional<uint64_t> seed, std::optional<size_t> task);
  // Errors: an action that there is not, an episode that is over.
  StatusOr<LoopsOutcome> Step(const LoopsAction& action);

  // The same in parts: env/vector_of.h. Here what is seen is looked at with each.
  StatusOr<bool> BeginReset(std::optional<uint64_t> seed, std::optional<size_t> task);
  StatusOr<bool> BeginStep(const LoopsAction& action);
  void Work(LoopsWorker& worker);
  StatusOr<bool> Continue() { return false; }
  const LoopsOutcome& outcome() const { return outcome_; }
  const LoopsView& Seen() const { return view_; }
  int worker() const { return worker_; }

  LoopsEpisode episode() const;
  // Goes on as the environment of the same tasks that this is an episode of. Nothing is measured.
  // Errors: an episode of other tasks.
  Status Resume(const LoopsEpisode& episode);

  const std::shared_ptr<LoopsSession>& session() const { return session_; }
  size_t sites() const { return session_->sites(); }
  size_t actions() const { return sites() * kStepKinds * Catalogue::kEach + 1; }
  std::vector<bool> ActionMask() const;
  // For each subspace what is legal for some choice of the others: sites, kinds + 1, then loops.
  std::vector<bool> ProductMask() const;
  LoopsView Look() const;

  const Task& task() const { return session_->tasks()[current_]; }
  const Catalogue& catalogue() const { return session_->catalogues()[current_]; }
  size_t tasks() const { return session_->tasks().size(); }
  bool running() const { return running_; }
  double speedup() const;
  const Scheduled& scheduled() const { return scheduled_; }

 private:
  Status Start(std::optional<uint64_t> seed, std::optional<size_t> task);
  Status Choose(const LoopsAction& action);
  Status ChooseOfProduct(const std::vector<int64_t>& action);
  void Measure(LoopsWorker& worker);
  // The logarithm of the time, up to a constant of the task.
  StatusOr<double> Value(const Scheduled& scheduled, LoopsWorker& worker) const;
  const LoopsEnvOptions& options() const { return session_->options(); }
  int SiteAt(size_t row) const;  // index of a nest as it stands now; -1

  // What a step is to do, until it has been done.
  struct Chosen {
    bool reset = false, stop = false;
    int64_t number = -1;
    std::optional<loops::Step> step;
    std::string why;  // where there is none
  };

  std::shared_ptr<LoopsSession> session_;
  int worker_ = 0;
  size_t next_ = 0;
  size_t current_ = 0;
  bool running_ = false;
  Scheduled scheduled_;
  std::vector<int64_t> history_;
  double initial_ = 0;
  double value_ = 0;
  Chosen chosen_;
  LoopsOutcome outcome_;
  LoopsView view_;
};

}  // namespace hone::loops

namespace hone {

extern template class VectorOf<loops::LoopsEnv>;

}  // namespace hone

#endif  // HONE_LOOPS_LOOPS_ENV_H_
