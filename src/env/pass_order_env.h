// Pass ordering as a reinforcement-learning environment (XLA Gym, Ganai et al. 2023, section 3).
//
// A step either is answered from the transition table or needs a worker. So each is begun, worked on
// as often as needed on a worker's thread, and ended, and whoever leads many environments can have
// the workers busy with all of them. Reset and Step do all of it for one.
#ifndef HONE_ENV_PASS_ORDER_ENV_H_
#define HONE_ENV_PASS_ORDER_ENV_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/recipe.h"
#include "env/episode.h"

namespace hone {

class PassOrderEnv : public Episode {
 public:
  // Number `index` of `count` environments that share the session; it works on one worker of it.
  PassOrderEnv(std::shared_ptr<Session> session, size_t index = 0, size_t count = 1);

  // With a seed: as a new environment with that seed. `program` overrides the schedule, once.
  // Errors: no program of the session can be loaded.
  Status Reset(std::optional<uint64_t> seed = {}, std::optional<size_t> program = {});
  // Errors: an action that there is not, an episode that is over. What a compiler does is none.
  StatusOr<Outcome> Step(int64_t action);

  // The same in parts. While they return true, Work is due on a thread of worker().
  StatusOr<bool> BeginReset(std::optional<uint64_t> seed, std::optional<size_t> program);
  StatusOr<bool> BeginStep(int64_t action);
  void Work(RemoteWorker& remote);
  StatusOr<bool> Continue();

  // Another environment in the same state, with the same history and schedule. The state is held in
  // the worker's memory, so that going on from it again is cheap.
  PassOrderEnv Fork();

  // Whether each action may change something; `stop` always may. By what is known now.
  std::vector<bool> ActionMask() const;
  // The program and the passes that changed something, enough to replay; verified is "skipped".
  Recipe MakeRecipe() const;

 private:
  enum class Phase { kIdle, kLoading, kApplying, kTiming };

  StatusOr<bool> EnterSeen();
  StatusOr<bool> Settle(const hone::Step& step, double run_seconds, bool stopped);
  PassSet Idle() const;
  bool AllIdle() const;

  PassSet idle_here_;  // tried in this state, in this episode, and changed nothing
  // Of the step in hand, and what Work was to find out.
  Phase phase_ = Phase::kIdle;
  PassId pass_ = 0;
  Status loaded_;
  StatusOr<Applied> applied_;
  StatusOr<ProgramArrays> arrays_;
  StatusOr<RunTimeReport> timed_;
  bool needs_arrays_ = false;
};

}  // namespace hone

#endif  // HONE_ENV_PASS_ORDER_ENV_H_
