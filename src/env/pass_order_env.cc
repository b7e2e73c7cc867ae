#include "env/pass_order_env.h"

#include <algorithm>
#include <utility>

#include "core/median.h"
#include "env/reward.h"

namespace hone {

PassOrderEnv::PassOrderEnv(std::shared_ptr<Session> session, size_t index, size_t count)
    : session_(std::move(session)),
      index_(index),
      count_(count),
      worker_(static_cast<int>(index % static_cast<size_t>(session_->pool().workers()))),
      rng_(index) {}

// One that leads alone: it waits for its worker.
Status PassOrderEnv::Reset(std::optional<uint64_t> seed, std::optional<size_t> program) {
  StatusOr<bool> more = BeginReset(seed, program);
  while (more && *more) {
    session_->pool().On(worker_, [this](RemoteWorker& remote) { Work(remote); });
    more = Continue();
  }
  return more ? Status() : tl::unexpected(more.error());
}

StatusOr<Outcome> PassOrderEnv::Step(int64_t action) {
  StatusOr<bool> more = BeginStep(action);
  while (more && *more) {
    session_->pool().On(worker_, [this](RemoteWorker& remote) { Work(remote); });
    more = Continue();
  }
  if (!more) return tl::unexpected(more.error());
  return outcome_;
}

StatusOr<bool> PassOrderEnv::BeginReset(std::optional<uint64_t> seed,
                                        std::optional<size_t> program) {
  if (program && *program >= session_->programs()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "there is no program " + std::to_string(*program) + ": there are " +
                         std::to_string(session_->programs()));
  }
  if (seed) {
    rng_ = Rng(*seed);
    episodes_ = 0;
  }
  // The program's own module stays, for the next episode on it.
  if (!view_.state.links.empty()) left_.push_back({view_.state.program, view_.fingerprint});
  outcome_ = {};
  running_ = false;
  passed_over_ = 0;
  forced_program_ = program;
  view_ = {};
  view_.program = program ? *program : session_->Scheduled(index_, count_, episodes_++, rng_);
  idle_here_.reset();
  return Enter();
}

// Begins the episode on view_.program, or finds that it has to be loaded, or is bad.
StatusOr<bool> PassOrderEnv::Enter() {
  for (;;) {
    const std::optional<std::string> bad = session_->WhyBad(view_.program);
    if (!bad) break;
    outcome_.error = *bad;
    if (forced_program_ || ++passed_over_ == session_->programs()) {
      return MakeError(ErrorCode::kInvalidInput,
                       forced_program_ ? *bad : "no program can be used; the last: " + *bad);
    }
    view_.program = (view_.program + 1) % session_->programs();
  }
  const EnvProgram* program = session_->Loaded(view_.program);
  needs_arrays_ = session_->options().observation.graph && view_.arrays == nullptr;
  if (program == nullptr || needs_arrays_) {
    phase_ = Phase::kLoading;
    return true;
  }
  view_.state = {program->info.id, {}};
  view_.fingerprint = program->info.fingerprint;
  view_.metrics = program->initial;
  view_.opcodes = program->info.opcodes;
  view_.initial_op_count = program->initial.op_count;
  phase_ = Phase::kIdle;
  running_ = true;
  return false;
}

StatusOr<bool> PassOrderEnv::BeginStep(int64_t action) {
  if (!running_) {
    return MakeError(ErrorCode::kInvalidInput, "the episode is over (or none has begun): reset");
  }
  if (action < 0 || action >= session_->action_count()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "there is no action " + std::to_string(action) + ": there are " +
                         std::to_string(session_->action_count()));
  }
  outcome_ = {};
  before_ = view_.metrics;
  run_seconds_ = -1;
  view_.actions.push_back(action);
  if (static_cast<size_t>(action) == session_->actions().size()) {
    outcome_.terminated = true;
    outcome_.looked = true;
    hone::Step stop;
    stop.state = view_.fingerprint;
    return Arrive(stop, -1);
  }
  pass_ = session_->actions()[static_cast<size_t>(action)];
  const auto known = session_->Find(view_.program, view_.fingerprint, pass_);
  const bool graph = session_->options().observation.graph;
  if (known && !(known->step.changed && graph)) {
    outcome_.looked = true;
    return Arrive(known->step, known->run_seconds);
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
      ApplyRequest request;
      request.from = view_.state;
      request.passes = {pass_};
      request.options = session_->apply_options();
      request.left = std::exchange(left_, {});
      applied_ = remote.Apply(request);
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
      return Enter();
    case Phase::kApplying: {
      if (!applied_) {  // the state could not be rebuilt, or workers do not start
        outcome_.error = applied_.error().message;
        hone::Step failed;
        failed.state = view_.fingerprint;
        return Arrive(failed, -1);
      }
      hone::Step& step = applied_->steps.front();
      if (step.state == applied_->start) {
        // A hidden instruction order may have led elsewhere; the name that it was asked by stays.
        step.state = view_.fingerprint;
      }
      session_->Record(view_.program, view_.fingerprint, step);
      if (step.changed && needs_arrays_ && arrays_) {
        view_.arrays = std::make_shared<const ProgramArrays>(*std::move(arrays_));
      }
      return Arrive(step, -1);
    }
    case Phase::kTiming:
      if (timed_) {
        run_seconds_ = Median(timed_->seconds);
        session_->RecordRunTime(view_.program, view_.fingerprint, run_seconds_);
      } else {
        outcome_.error = timed_.error().message;
      }
      Finish();
      return false;
  }
  return false;
}

// The step's outcome is known: moves on, and ends the episode where it ends.
StatusOr<bool> PassOrderEnv::Arrive(const hone::Step& step, double run_seconds) {
  const EnvOptions& options = session_->options();
  if (!step.failure.empty()) outcome_.error = step.failure;
  if (step.changed) {
    outcome_.changed = true;
    view_.state.links.push_back({step.pass, step.state});
    view_.fingerprint = step.state;
    view_.metrics = step.metrics;
    view_.opcodes = step.opcodes;
    idle_here_.reset();
  } else {
    idle_here_.set(step.pass);
  }
  if (AllIdle()) outcome_.terminated = true;
  if (!outcome_.terminated && view_.actions.size() >= static_cast<size_t>(options.traj_limit)) {
    outcome_.truncated = true;
  }
  running_ = !outcome_.terminated && !outcome_.truncated;
  run_seconds_ = run_seconds;
  if (!running_ && options.reward.final_run_time != 0 && run_seconds_ < 0) {
    if (const auto known = session_->RunTime(view_.program, view_.fingerprint)) {
      run_seconds_ = *known;
    } else {
      phase_ = Phase::kTiming;
      return true;
    }
  }
  Finish();
  return false;
}

// The reward; nothing else is open.
void PassOrderEnv::Finish() {
  outcome_.reward =
      RewardOf(session_->options().reward, *session_->Loaded(view_.program),
               {before_, view_.metrics, outcome_.terminated, !running_, !outcome_.error.empty(),
                run_seconds_});
}

double PassOrderEnv::Value(const Metrics& metrics) const {
  return ObjectiveValue(session_->options().reward.objective, metrics);
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

double PassOrderEnv::initial_value() const {
  const EnvProgram* program = session_->Loaded(view_.program);
  return program == nullptr ? 0 : Value(program->initial);
}

double PassOrderEnv::value() const { return Value(view_.metrics); }

PassOrderEnv PassOrderEnv::Fork() {
  const StateName state = view_.state;
  if (!state.links.empty()) {
    // Held before the other goes on; nobody needs to wait for it.
    session_->pool().Post(worker_, [state](RemoteWorker& remote) { (void)remote.Hold(state); });
  }
  PassOrderEnv other = *this;
  other.left_.clear();
  return other;
}

Recipe PassOrderEnv::MakeRecipe() const {
  const EnvProgram* program = session_->Loaded(view_.program);
  Recipe recipe;
  recipe.xla_version = session_->pool().version();
  recipe.objective = ObjectiveName(session_->options().reward.objective);
  recipe.program.file = session_->name(view_.program);
  if (program == nullptr) return recipe;
  recipe.program.name = program->info.name;
  recipe.program.fingerprint = program->info.fingerprint.ToHex();
  for (const Link& link : view_.state.links) {
    recipe.passes.push_back(session_->pool().passes()[link.pass].name);
  }
  recipe.result_fingerprint = view_.fingerprint.ToHex();
  recipe.initial_value = initial_value();
  recipe.default_value = program->default_value;
  recipe.result_value = value();
  return recipe;
}

}  // namespace hone
