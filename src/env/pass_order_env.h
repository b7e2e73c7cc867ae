// Pass ordering as a reinforcement-learning environment (XLA Gym, Ganai et al. 2023, section 3).
#ifndef HONE_ENV_PASS_ORDER_ENV_H_
#define HONE_ENV_PASS_ORDER_ENV_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "env/env_base.h"

namespace hone {

// An action is a pass of the session's, by its index there, or `stop`.
class PassOrderEnv : public EnvBase<PassOrderEnv, int64_t> {
 public:
  // Number `index` of `count` environments that share the session; it works on one worker of it.
  PassOrderEnv(std::shared_ptr<Session> session, size_t index = 0, size_t count = 1);

  // A reset or a step in parts. While they return true, Work is due on a thread of worker().
  StatusOr<bool> BeginReset(std::optional<uint64_t> seed, std::optional<size_t> program);
  StatusOr<bool> BeginStep(int64_t action);
  void Work(RemoteWorker& remote);
  StatusOr<bool> Continue();

  const std::vector<int64_t>& Taken() const { return view_.actions; }
  const View& Seen() const { return view_; }
  // Whether each action may change something; `stop` always may. By what is known now.
  std::vector<bool> ActionMask() const;

 private:
  enum class Phase { kIdle, kLoading, kApplying, kTiming };

  StatusOr<bool> EnterSeen();
  StatusOr<bool> Settle(const hone::Step& step, double run_seconds, bool stopped);
  PassSet Idle() const;
  bool AllIdle() const;

  PassSet idle_here_;  // tried in this state, in this episode, and changed nothing
  // The step in hand, and the answers that Work got for it.
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
