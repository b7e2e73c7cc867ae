// An episode of an environment: which program it is on, what has been seen of it, how it ends. The
// environment itself defines what an action means.
#ifndef HONE_ENV_EPISODE_H_
#define HONE_ENV_EPISODE_H_

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

// The result of a step; for a reset all zero, but `error` where a program had to be passed over.
struct Outcome {
  double reward = 0;
  bool terminated = false;  // by `stop`, or because no action can change anything
  bool truncated = false;   // by traj_limit
  bool changed = false;
  bool looked = false;  // answered from the table
  std::string error;    // what the compiler did wrong; the state is as it was
};

class Episode {
 public:
  const std::shared_ptr<Session>& session() const { return session_; }
  int worker() const { return worker_; }
  size_t index() const { return index_; }
  const View& view() const { return view_; }
  const Outcome& outcome() const { return outcome_; }
  bool running() const { return running_; }
  bool begun() const { return begun_; }  // an episode, be it over by now
  double initial_value() const;
  double value() const;
  // The program and the passes that changed something, with what was decided about their rewrites:
  // enough to replay; verified is "skipped".
  Recipe MakeRecipe() const;

  // With the session and the actions so far this is the whole environment: the state of its random
  // numbers, and how many episodes it has begun.
  std::pair<uint64_t, int64_t> schedule_state() const { return {rng_.state(), episodes_}; }
  void set_schedule_state(uint64_t rng_state, int64_t episodes) {
    rng_ = Rng(rng_state);
    episodes_ = episodes;
  }

 protected:
  // Of environment number `index` of `count` that share the session; it works on one worker of it.
  Episode(std::shared_ptr<Session> session, size_t index, size_t count);

  // Ends the episode in hand and chooses the next one's program, which Enter then enters. With a
  // seed: as a new environment with that seed. `program` overrides the schedule, once.
  Status Begin(std::optional<uint64_t> seed, std::optional<size_t> program);
  // Goes to the start of the program, or of the next that is not bad: true. False where it has to
  // be loaded first, after which Enter is called again. Errors: no program of the session can be
  // used.
  StatusOr<bool> Enter();

  // A step begins. Errors: no episode is running.
  Status BeginStep(int64_t action);
  // The request that makes a step on a worker; and its result, recorded under the asked-for state.
  ApplyRequest Request(PassId pass, const DecisionsPtr& decisions);
  Step Take(PassId pass, const DecisionsPtr& decisions, StatusOr<Applied> applied);
  // Goes to where the step leads.
  void Arrive(const Step& step, const DecisionsPtr& decisions);
  // The step ends the episode where it is `terminated`, or too long.
  void EndStep(bool terminated);
  // Whether the reward waits for a run of the result; TakeRunTime is given its report then.
  bool NeedsRunTime();
  void TakeRunTime(const StatusOr<RunTimeReport>& report);
  // Fills in the reward; nothing else is open.
  void Pay(bool failed);
  // The worker holds the state before anybody goes on from it; nobody needs to wait for that.
  void Hold();

  std::shared_ptr<Session> session_;
  View view_;
  bool running_ = false;
  bool begun_ = false;
  Outcome outcome_;
  double run_seconds_ = -1;      // of the state at the end; -1 where not known
  std::vector<LeftState> left_;  // to be told to the worker with the next request

 private:
  size_t index_;
  size_t count_;
  int worker_;
  Rng rng_;
  int64_t episodes_ = 0;
  bool forced_ = false;  // to this program
  size_t passed_over_ = 0;
  Metrics before_;  // of the step in hand
};

}  // namespace hone

#endif  // HONE_ENV_EPISODE_H_
