// The base of all environments: whole steps, forks and saved episodes, made of how a reset or step
// begins, what a worker does for it, and how it goes on.
#ifndef HONE_ENV_ENV_BASE_H_
#define HONE_ENV_ENV_BASE_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "env/episode.h"

namespace hone {

// Enough to make an episode again in any session of the same programs and options: plain data.
template <class Action>
struct SavedEpisode {
  uint64_t rng_state = 0;  // with `episodes`, Episode::schedule_state
  int64_t episodes = 0;
  std::optional<size_t> program;  // the session's index; nothing where no episode has begun
  std::vector<Action> actions;    // since its reset
};

// Env has BeginReset, BeginStep, Work, Continue; Taken, the actions since the reset; and Seen, what
// an agent sees of its episode.
//
// A step either is answered from the transition table or needs a worker. So each is begun, worked
// on as often as needed on a worker's thread, and ended, and whoever leads many environments can
// have the workers busy with all of them. Reset and Step do all of it for one.
template <class Env, class ActionType>
class EnvBase : public Episode {
 public:
  using Session = hone::Session;
  using Worker = RemoteWorker;
  using Action = ActionType;
  using Saved = SavedEpisode<Action>;

  // With a seed: as a new environment with that seed. `program` overrides the schedule, once.
  // Errors: no program of the session can be loaded.
  Status Reset(std::optional<uint64_t> seed = {}, std::optional<size_t> program = {}) {
    return Lead(self().BeginReset(seed, program));
  }
  // Errors: an action that there is not, an episode that is over. A pass that fails is none.
  StatusOr<Outcome> Step(const Action& action) {
    if (Status led = Lead(self().BeginStep(action)); !led) return tl::unexpected(led.error());
    return outcome_;
  }

  // Another environment in the same state, with the same history and schedule. The state is held in
  // the worker's memory, so that going on from it again is cheap.
  Env Fork() {
    Hold();
    Env other = self();
    other.left_.clear();
    return other;
  }

  Saved Save() const {
    Saved saved;
    std::tie(saved.rng_state, saved.episodes) = schedule_state();
    if (begun()) saved.program = view_.program;
    saved.actions = static_cast<const Env&>(*this).Taken();
    return saved;
  }
  // Goes through the episode again, and on with the schedule from where it was. Errors: a program
  // or an action that there is not here.
  Status Restore(const Saved& saved) {
    if (saved.program) {
      if (Status reset = Reset({}, saved.program); !reset) return reset;
      for (const Action& action : saved.actions) {
        if (auto stepped = Step(action); !stepped) return tl::unexpected(stepped.error());
      }
    }
    set_schedule_state(saved.rng_state, saved.episodes);
    return {};
  }

 protected:
  using Episode::Episode;

 private:
  Env& self() { return static_cast<Env&>(*this); }

  // One that leads alone: it waits for its worker.
  Status Lead(StatusOr<bool> more) {
    while (more && *more) {
      session_->pool().On(worker(), [this](RemoteWorker& remote) { self().Work(remote); });
      more = self().Continue();
    }
    return more ? Status() : tl::unexpected(more.error());
  }
};

}  // namespace hone

#endif  // HONE_ENV_ENV_BASE_H_
