#include "env/episode.h"

#include <utility>

#include "core/median.h"
#include "env/reward.h"

namespace hone {

Episode::Episode(std::shared_ptr<Session> session, size_t index, size_t count)
    : session_(std::move(session)),
      index_(index),
      count_(count),
      worker_(static_cast<int>(index % static_cast<size_t>(session_->pool().workers()))),
      rng_(index) {}

Status Episode::Begin(std::optional<uint64_t> seed, std::optional<size_t> program) {
  if (program && *program >= session_->programs()) {
    return MakeError(ErrorCode::kInvalidInput, "there is no program " + std::to_string(*program) +
                                                   ": there are " +
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
  begun_ = false;
  passed_over_ = 0;
  forced_ = program.has_value();
  view_ = {};
  view_.program = program ? *program : session_->Scheduled(index_, count_, episodes_++, rng_);
  return {};
}

StatusOr<bool> Episode::Enter() {
  for (;;) {
    const std::optional<std::string> bad = session_->WhyBad(view_.program);
    if (!bad) break;
    outcome_.error = *bad;
    if (forced_ || ++passed_over_ == session_->programs()) {
      return MakeError(ErrorCode::kInvalidInput,
                       forced_ ? *bad : "no program can be used; the last: " + *bad);
    }
    view_.program = (view_.program + 1) % session_->programs();
  }
  const EnvProgram* program = session_->Loaded(view_.program);
  if (program == nullptr) return false;
  view_.state = {program->info.id, {}};
  view_.fingerprint = program->info.fingerprint;
  view_.metrics = program->initial;
  view_.opcodes = program->info.opcodes;
  view_.initial_op_count = program->initial.op_count;
  begun_ = true;
  return true;
}

Status Episode::BeginStep(int64_t action) {
  if (!running_) {
    return MakeError(ErrorCode::kInvalidInput, "the episode is over (or none has begun): reset");
  }
  outcome_ = {};
  before_ = view_.metrics;
  run_seconds_ = -1;
  view_.actions.push_back(action);
  return {};
}

ApplyRequest Episode::Request(PassId pass, const DecisionsPtr& decisions) {
  ApplyRequest request;
  request.from = view_.state;
  request.passes = {pass};
  if (decisions != nullptr) request.decisions = {decisions};
  request.options = session_->apply_options();
  request.left = std::exchange(left_, {});
  return request;
}

Step Episode::Take(PassId pass, const DecisionsPtr& decisions, StatusOr<Applied> applied) {
  Step step;
  if (applied) {
    step = std::move(applied->steps.front());
    // A hidden instruction order may have led elsewhere; the name that it was asked by stays.
    if (step.state == applied->start) step.state = view_.fingerprint;
    session_->Record(view_.program, view_.fingerprint, step, HashOf(decisions));
  } else {  // the state could not be rebuilt, or workers do not start
    step.pass = pass;
    step.state = view_.fingerprint;
    step.failure = applied.error().message;
  }
  return step;
}

void Episode::Arrive(const Step& step, const DecisionsPtr& decisions) {
  if (!step.failure.empty()) outcome_.error = step.failure;
  if (!step.changed) return;
  outcome_.changed = true;
  view_.state.links.push_back({step.pass, step.state, decisions});
  view_.fingerprint = step.state;
  view_.metrics = step.metrics;
  view_.opcodes = step.opcodes;
}

void Episode::EndStep(bool terminated) {
  outcome_.terminated = terminated;
  outcome_.truncated =
      !terminated && view_.actions.size() >= static_cast<size_t>(session_->options().traj_limit);
  running_ = !outcome_.terminated && !outcome_.truncated;
}

bool Episode::NeedsRunTime() {
  if (running_ || session_->options().reward.final_run_time == 0 || run_seconds_ >= 0) return false;
  const auto known = session_->RunTime(view_.program, view_.fingerprint);
  if (known) run_seconds_ = *known;
  return !known;
}

void Episode::TakeRunTime(const StatusOr<RunTimeReport>& report) {
  if (!report) {
    outcome_.error = report.error().message;
    return;
  }
  run_seconds_ = Median(report->seconds);
  session_->RecordRunTime(view_.program, view_.fingerprint, run_seconds_);
}

void Episode::Pay(bool failed) {
  outcome_.reward =
      RewardOf(session_->options().reward, *session_->Loaded(view_.program),
               {before_, view_.metrics, outcome_.terminated, !running_, failed, run_seconds_});
}

void Episode::Hold() {
  const StateName state = view_.state;
  if (state.links.empty()) return;
  session_->pool().Post(worker(), [state](RemoteWorker& remote) { (void)remote.Hold(state); });
}

Recipe Episode::MakeRecipe() const {
  Recipe recipe;
  recipe.xla_version = session_->pool().version();
  recipe.objective = ObjectiveName(session_->options().reward.objective);
  recipe.program.file = session_->name(view_.program);
  const EnvProgram* program = session_->Loaded(view_.program);
  if (program == nullptr) return recipe;
  recipe.program.name = program->info.name;
  recipe.program.fingerprint = program->info.fingerprint.ToHex();
  for (const Link& link : view_.state.links) {
    recipe.passes.push_back(session_->pool().passes()[link.pass].name);
    recipe.decisions.push_back(link.decisions == nullptr ? Decisions() : *link.decisions);
  }
  recipe.result_fingerprint = view_.fingerprint.ToHex();
  recipe.initial_value = initial_value();
  if (program->default_value >= 0) recipe.default_value = program->default_value;
  recipe.result_value = value();
  return recipe;
}

double Episode::initial_value() const {
  const EnvProgram* program = session_->Loaded(view_.program);
  return program == nullptr
             ? 0
             : ObjectiveValue(session_->options().reward.objective, program->initial);
}

double Episode::value() const {
  return ObjectiveValue(session_->options().reward.objective, view_.metrics);
}

}  // namespace hone
