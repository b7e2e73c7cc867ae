#include "env/pass_order_env.h"

#include <algorithm>
#include <utility>

namespace hone {

PassOrderEnv::PassOrderEnv(std::shared_ptr<Session> session, size_t index, size_t count)
    : EnvBase(std::move(session), index, count) {}

StatusOr<bool> PassOrderEnv::BeginReset(std::optional<uint64_t> seed,
                                        std::optional<size_t> program) {
  if (Status begun = Begin(seed, program); !begun) return tl::unexpected(begun.error());
  idle_here_.reset();
  return EnterSeen();
}

// Begins the episode, or finds what has to be loaded for it.
StatusOr<bool> PassOrderEnv::EnterSeen() {
  const StatusOr<bool> entered = Enter();
  if (!entered) return entered;
  needs_arrays_ = session_->options().observation.graph && view_.arrays == nullptr;
  running_ = *entered && !needs_arrays_;
  phase_ = running_ ? Phase::kIdle : Phase::kLoading;
  return !running_;
}

StatusOr<bool> PassOrderEnv::BeginStep(int64_t action) {
  if (running_ && (action < 0 || action >= session_->action_count())) {
    return MakeError(ErrorCode::kInvalidInput, "there is no action " + std::to_string(action) +
                                                   ": there are " +
                                                   std::to_string(session_->action_count()));
  }
  if (Status begun = Episode::BeginStep(action); !begun) return tl::unexpected(begun.error());
  if (static_cast<size_t>(action) == session_->actions().size()) {
    outcome_.looked = true;
    hone::Step stop;
    stop.state = view_.fingerprint;
    return Settle(stop, -1, /*stopped=*/true);
  }
  pass_ = session_->actions()[static_cast<size_t>(action)];
  const auto known = session_->Find(view_.program, view_.fingerprint, pass_);
  const bool graph = session_->options().observation.graph;
  if (known && !(known->step.changed && graph)) {
    outcome_.looked = true;
    return Settle(known->step, known->run_seconds, false);
  }
  phase_ = Phase::kApplying;
  needs_arrays_ = graph;
  return true;
}

void PassOrderEnv::Work(RemoteWorker& remote) {
  switch (phase_) {
    case Phase::kIdle:
      return;
    case Phase::kLoading:
      loaded_ = session_->Load(view_.program, remote);
      if (loaded_ && needs_arrays_) {
        arrays_ = remote.Arrays({session_->Loaded(view_.program)->info.id, {}});
      }
      return;
    case Phase::kApplying: {
      applied_ = remote.Apply(Request(pass_, nullptr));
      if (needs_arrays_ && applied_ && applied_->steps.front().changed) {
        StateName after = view_.state;
        after.links.push_back({pass_, applied_->steps.front().state});
        arrays_ = remote.Arrays(after);
      }
      return;
    }
    case Phase::kTiming:
      timed_ = remote.RunTime(view_.state, {});
      return;
  }
}

StatusOr<bool> PassOrderEnv::Continue() {
  switch (std::exchange(phase_, Phase::kIdle)) {
    case Phase::kIdle:
      return false;
    case Phase::kLoading:
      if (loaded_ && needs_arrays_ && !arrays_) return tl::unexpected(arrays_.error());
      if (loaded_ && needs_arrays_) {
        view_.arrays = std::make_shared<const ProgramArrays>(*std::move(arrays_));
      }
      return EnterSeen();
    case Phase::kApplying: {
      const hone::Step step = Take(pass_, nullptr, std::move(applied_));
      if (step.changed && needs_arrays_ && arrays_) {
        view_.arrays = std::make_shared<const ProgramArrays>(*std::move(arrays_));
      }
      return Settle(step, -1, /*stopped=*/false);
    }
    case Phase::kTiming:
      TakeRunTime(timed_);
      Pay(/*failed=*/!outcome_.error.empty());
      return false;
  }
  return false;
}

// What came of the step is known: moves on, and ends the episode where it ends.
StatusOr<bool> PassOrderEnv::Settle(const hone::Step& step, double run_seconds, bool stopped) {
  Arrive(step, nullptr);
  if (step.changed) {
    idle_here_.reset();
  } else {
    idle_here_.set(step.pass);
  }
  EndStep(/*terminated=*/stopped || AllIdle());
  run_seconds_ = run_seconds;
  if (NeedsRunTime()) {
    phase_ = Phase::kTiming;
    return true;
  }
  Pay(/*failed=*/!outcome_.error.empty());
  return false;
}

PassSet PassOrderEnv::Idle() const {
  return session_->options().episode_mask ? idle_here_
                                          : session_->Idle(view_.program, view_.fingerprint);
}

bool PassOrderEnv::AllIdle() const {
  if (!session_->options().use_table) return false;
  const PassSet idle = Idle();
  const auto& actions = session_->actions();
  return std::all_of(actions.begin(), actions.end(), [&](PassId pass) { return idle.test(pass); });
}

std::vector<bool> PassOrderEnv::ActionMask() const {
  const PassSet idle = Idle();
  std::vector<bool> mask;
  for (PassId pass : session_->actions()) mask.push_back(!idle.test(pass));
  if (session_->options().stop_action) mask.push_back(true);
  return mask;
}

}  // namespace hone
