// Many environments over the workers of one session, led by one thread.
//
// An environment says what its Session, Worker and Action are. It has BeginReset, BeginStep, Work,
// Continue, outcome, worker, Seen and Fork, as PassOrderEnv has them; the session has Post, which
// does a job on a worker's thread. Whoever makes a vector of a new kind of environment instantiates
// it by vector_of_definitions.h.
#ifndef HONE_ENV_VECTOR_OF_H_
#define HONE_ENV_VECTOR_OF_H_

#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hone {

// When an environment whose episode is over is reset: as Gymnasium's AutoresetMode (1.1).
enum class Autoreset {
  kNextStep,  // by the next step, which takes no action, pays nothing and shows the reset
  kSameStep,  // at once; the last view and outcome of the episode are in `final_…`
  kDisabled,  // by the caller
};

// Lock-step is Step; Send and Receive let each environment go on as soon as it can, so that no
// worker waits for another (EnvPool, Weng et al. 2022). With Step the same seeds give the same
// results whatever the number of workers; with Receive the order of events is the machine's.
template <class Env>
class VectorOf {
 public:
  using Action = typename Env::Action;
  using Session = typename Env::Session;
  using Outcome = std::decay_t<decltype(std::declval<const Env&>().outcome())>;
  using Seen = std::decay_t<decltype(std::declval<const Env&>().Seen())>;

  struct Slot {
    Env env;
    Outcome outcome;
    // The end of the episode that this step ended, where kSameStep has reset it since.
    bool has_final = false;
    Outcome final_outcome;
    Seen final_view;
    bool over = false;       // the episode ended; the next step resets (kNextStep)
    bool was_reset = false;  // this step was a reset
    bool busy = false;
    bool resetting = false;  // what is under way is a reset
    Status error;  // of what was sent last: a bad action, or no program that can be loaded
  };

  VectorOf(std::shared_ptr<Session> session, std::vector<Env> envs, Autoreset autoreset);
  // For environments that need nothing but the session.
  VectorOf(std::shared_ptr<Session> session, size_t count, Autoreset autoreset)
    requires std::constructible_from<Env, std::shared_ptr<Session>, size_t, size_t>;
  ~VectorOf();  // waits for what is under way
  VectorOf(const VectorOf&) = delete;
  VectorOf& operator=(const VectorOf&) = delete;

  size_t size() const { return slots_.size(); }
  const Slot& slot(size_t i) const { return *slots_[i]; }
  Env& env(size_t i) { return slots_[i]->env; }
  Autoreset autoreset() const { return autoreset_; }
  const std::shared_ptr<Session>& session() const { return session_; }

  // Resets those of `which` (all, where empty), each with its seed, if any. The first error.
  Status Reset(std::span<const std::optional<uint64_t>> seeds, std::span<const bool> which = {},
               std::optional<size_t> program = {});
  // An action for each. The first error; the environments that had none have stepped.
  Status Step(std::span<const Action> actions);

  // Begins a step, or a reset, of environments that are not under way.
  void Send(size_t env, const Action& action);
  void SendReset(size_t env, std::optional<uint64_t> seed, std::optional<size_t> program = {});
  // Waits until `least` of those under way are done and returns them, in the order they were done.
  std::vector<size_t> Receive(size_t least);

  // As many environments in the same states, episodes and schedules (EnvBase::Fork).
  std::unique_ptr<VectorOf> Fork();

  // Looked at ten times a second while waiting; when it answers true, waiting ends early.
  void set_interrupted(std::function<bool()> interrupted) { interrupted_ = std::move(interrupted); }

 private:
  void BeginReset(size_t env, std::optional<uint64_t> seed, std::optional<size_t> program);
  void Go(size_t env, const StatusOr<bool>& more);
  void Land(size_t env);
  // Waits for what is under way, in rounds: what workers found out is looked at in the order of the
  // environments. False where it was interrupted.
  bool Collect();
  Status FirstError() const;
  template <class Ready>
  bool Wait(std::unique_lock<std::mutex>& lock, Ready ready);

  const std::shared_ptr<Session> session_;
  const Autoreset autoreset_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::function<bool()> interrupted_;
  std::deque<size_t> done_;  // with what was sent, and not received yet

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<size_t> worked_;  // environments whose worker is done with them
  size_t posted_ = 0;          // jobs that have not ended
};

}  // namespace hone

#endif  // HONE_ENV_VECTOR_OF_H_
