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
#include <string>
#include <utility>
#include <vector>

#include "core/recipe.h"
#include "core/rng.h"
#include "env/session.h"
#include "env/view.h"

namespace hone {

// What came of a step. Of a reset: all zero, but `error` where a program had to be passed over.
struct Outcome {
  double reward = 0;
  bool terminated = false;  // by `stop`, or because no action can change anything
  bool truncated = false;   // by traj_limit
  bool changed = false;
  bool looked = false;  // answered from the table
  std::string error;    // what the compiler did wrong; the state is as it was
};

class PassOrderEnv {
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
  const Outcome& outcome() const { return outcome_; }

  // Another environment in the same state, with the same history and schedule. The state is held in
  // the worker's memory, so that going on from it again is cheap.
  PassOrderEnv Fork();

  const View& view() const { return view_; }
  // Whether each action may change something; `stop` always may. By what is known now.
  std::vector<bool> ActionMask() const;
  bool running() const { return running_; }
  double initial_value() const;
  double value() const;
  // The program and the passes that changed something, enough to replay; verified is "skipped".
  Recipe MakeRecipe() const;

  // What, beside the session and the actions so far, makes the environment: its random numbers'
  // state and how many episodes it has begun.
  std::pair<uint64_t, int64_t> schedule_state() const { return {rng_.state(), episodes_}; }
  void set_schedule_state(uint64_t rng_state, int64_t episodes) {
    rng_ = Rng(rng_state);
    episodes_ = episodes;
  }

  const std::shared_ptr<Session>& session() const { return session_; }
  int worker() const { return worker_; }
  size_t index() const { return index_; }

 private:
  enum class Phase { kIdle, kLoading, kApplying, kTiming };

  StatusOr<bool> Enter();
  StatusOr<bool> Arrive(const hone::Step& step, double run_seconds);
  void Finish();
  double Value(const Metrics& metrics) const;
  PassSet Idle() const;
  bool AllIdle() const;

  std::shared_ptr<Session> session_;
  size_t index_;
  size_t count_;
  int worker_;
  Rng rng_;
  int64_t episodes_ = 0;
  bool running_ = false;
  View view_;
  PassSet idle_here_;  // tried in this state, in this episode, and changed nothing
  std::vector<LeftState> left_;  // to be told to the worker with the next request

  // Of the step in hand.
  Phase phase_ = Phase::kIdle;
  Outcome outcome_;
  std::optional<size_t> forced_program_;
  size_t passed_over_ = 0;
  PassId pass_ = 0;
  Metrics before_;
  // What Work was to find out.
  Status loaded_;
  StatusOr<Applied> applied_;
  StatusOr<ProgramArrays> arrays_;
  StatusOr<RunTimeReport> timed_;
  bool needs_arrays_ = false;
  double run_seconds_ = -1;
};

}  // namespace hone

#endif  // HONE_ENV_PASS_ORDER_ENV_H_
