#include "compiler/walk.h"

#include <algorithm>

#include "compiler/load.h"
#include "compiler/metrics.h"
#include "compiler/sites/dry_run.h"
#include "compiler/stopwatch.h"

namespace hone::compiler {
namespace {

std::string PassName(PassId pass) { return PassTable()[pass].info.name; }

}  // namespace

Step States::Walk::Take(PassId pass, uint32_t index, const DecisionsPtr& decisions) {
  Step step;
  step.pass = pass;
  step.state = state();
  decisions_ = decisions;
  const bool remembers = !options_.fresh && !options_.episode && !options_.verify;
  if (remembers && TakeFromMemory(step)) return step;
  if (Status built = Build(); !built) {
    step.failure = built.error().message;
    return step;
  }
  step.state = state();
  const auto lethal = program_.lethal.find({state(), pass, HashOf(decisions)});
  if (lethal != program_.lethal.end()) {
    step.looked = true;
    step.failure = lethal->second;
    step.metrics = MetricsHere();
    // Known from now on: the next walk here need not build the state to say so.
    Remember(step.state, step);
    return step;
  }
  states_.heartbeat_->step = index;
  const Fingerprint before = state();
  step.failure = Run(pass, step.opcodes);
  step.state = state();
  step.changed = step.state != before;
  step.metrics = MetricsHere();
  Remember(before, step);
  return step;
}

Status States::Walk::Build() {
  if (module_ == nullptr) Start();
  const bool replays = built_ < links_.size();
  states_.heartbeat_->step = wire::Heartbeat::kReplaying;
  double since_copy = 0;
  while (built_ < links_.size()) {
    const size_t at = built_;
    const Link link = links_[at];
    const double before = states_.timing().passes;
    bool changed = false;
    if (std::string failure = RunOnModule(link.pass, link.decisions, changed); !failure.empty()) {
      Drop();
      return MakeError(ErrorCode::kPassFailed,
                       "the state cannot be rebuilt: " + PassName(link.pass) +
                           " succeeded before and now fails: " + failure);
    }
    if (module_ == nullptr) {  // none of its rewrites was wanted: without it then
      links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(at));
      Start();
      continue;
    }
    since_copy += states_.timing().passes - before;
    ++built_;
    if (options_.fresh) continue;
    Fingerprint& state = links_[at].state;
    if (state == kUnknown) state = Digest().fingerprint;
    if (built_ < links_.size() && !options_.episode && Touch(state) &&
        since_copy > program_.clone_seconds && program_.held.count(state) == 0) {
      states_.Store(program_, state, states_.Copy(*module_));
      since_copy = 0;
    }
  }
  if (replays && !links_.empty()) links_.back().state = Digest().fingerprint;
  return {};
}

void States::Walk::Finish() {
  if (module_ == nullptr) return;
  if (options_.fresh) {
    states_.Free(std::move(module_));
  } else {
    states_.Store(program_, StateOfModule(), std::move(module_));
  }
}

void States::Walk::Remember(const Fingerprint& before, const Step& step) {
  if (options_.episode) return;
  program_.transitions[{before, step.pass, HashOf(decisions_)}] = {step.state, step.failure};
  ++states_.remembered_;
}

bool States::Walk::TakeFromMemory(Step& step) {
  const auto known = program_.transitions.find({step.state, step.pass, HashOf(decisions_)});
  if (known == program_.transitions.end()) return false;
  const Program::Outcome& outcome = known->second;
  const auto metrics = program_.metrics.find(outcome.state);
  if (metrics == program_.metrics.end()) return false;
  if (Lacks(metrics->second, options_)) return false;
  step.looked = true;
  step.failure = outcome.failure;
  step.changed = outcome.state != step.state;
  step.state = outcome.state;
  step.metrics = metrics->second;
  if (step.changed) links_.push_back({step.pass, step.state, decisions_});
  return true;
}

bool States::Walk::Stays(const Fingerprint& state) {
  if (!options_.episode) return Touch(state);
  const auto touches = program_.touches.find(state);
  return touches != program_.touches.end() && touches->second > 1;
}

void States::Walk::Start() {
  const auto unknown = std::find_if(links_.begin(), links_.end(),
                                    [](const Link& link) { return link.state == kUnknown; });
  for (built_ = static_cast<size_t>(unknown - links_.begin()); !options_.fresh; --built_) {
    const Fingerprint& state = StateOfModule();
    const auto found = program_.held.find(state);
    if (found != program_.held.end()) {
      // The program itself is there as it was loaded.
      module_ = states_.Take(found->second, built_ > 0 && Stays(state));
      return;
    }
    if (built_ == 0) break;
  }
  built_ = 0;
  const double before = states_.timing().clones;
  module_ = states_.Copy(*program_.module);
  program_.clone_seconds = states_.timing().clones - before;
}

void States::Walk::Drop() {
  states_.Free(std::move(module_));
  built_ = 0;
}

std::string States::Walk::RunOnModule(PassId pass, const DecisionsPtr& decisions, bool& changed) {
  ++states_.heartbeat_->ticks;
  ++states_.timing().passes_run;
  Stopwatch watch(states_.timing().passes);
  const PassEntry& entry = PassTable()[pass];
  if (const Decisions* decided = decisions != nullptr ? decisions.get()
                                 : entry.decisions    ? &*entry.decisions
                                                      : nullptr) {
    changed = true;  // to be found out: a pass does not know what was declined
    return RunWithDecisions(entry, *decided);
  }
  const absl::StatusOr<bool> result = entry.make()->Run(module_.get());
  if (!result.ok()) {
    return result.status().message().empty() ? result.status().ToString()
                                             : std::string(result.status().message());
  }
  // Most passes know nothing of schedules, and XLA's clean-up aborts on one that names removed
  // instructions. A schedule that cannot follow the change is given up.
  changed = *result || entry.silent;
  if (changed && module_->has_schedule() && !module_->schedule().Update().ok()) {
    module_->clear_schedule();
  }
  module_->Cleanup();
  return "";
}

std::string States::Walk::RunWithDecisions(const PassEntry& entry, const Decisions& decisions) {
  // Of a pass that turned out not to be separable the one site is chosen, or it is not.
  const RewriteSite whole = WholeSite(entry, StateOfModule(), 0, 0, 0);
  for (const SiteChoice& choice : decisions.choices) {
    if (choice.key == whole.place || choice.key == whole.content)
      return choice.accept ? RunPlainly(entry) : "";
  }
  if (decisions.AcceptNone()) return "";
  if (entry.grain == Grain::kRewrites) {
    bool made = false;
    std::string failure = RunDecided(entry, module_.get(), decisions, made);
    // What it has done beside its rewrites was not asked for, but where all is accepted.
    const bool all = decisions.otherwise == Otherwise::kAccept;
    if (failure.empty() && !made && !all && Digest().fingerprint != StateOfModule()) Drop();
    return failure;
  }
  if (entry.grain == Grain::kWhole) {
    return decisions.otherwise == Otherwise::kDecline ? "" : RunPlainly(entry);
  }
  const std::unique_ptr<xla::HloModule> before = states_.Copy(*module_);
  std::string failure = RunPlainly(entry);
  if (failure.empty()) RestoreDeclined(*before, decisions, module_.get());
  return failure;
}

std::string States::Walk::RunPlainly(const PassEntry& entry) {
  const absl::Status status = entry.make()->Run(module_.get()).status();
  if (module_->has_schedule() && !module_->schedule().Update().ok()) module_->clear_schedule();
  module_->Cleanup();
  return status.ok() ? "" : status.ToString();
}

std::string States::Walk::Run(PassId pass, OpcodeCounts& opcodes) {
  bool changed = false;
  std::string failure = RunOnModule(pass, decisions_, changed);
  if (failure.empty() && module_ == nullptr) return "";
  if (failure.empty() && !changed && !options_.verify) return "";
  // Some of a pass's rewrites are not what XLA's authors have tested.
  const bool anew = options_.verify || decisions_ != nullptr || PassTable()[pass].decisions;
  ModuleDigest digest;
  if (failure.empty() && !changed) {
    digest = Digest();
    if (digest.fingerprint == state()) return "";
  }
  if (failure.empty() && anew) failure = Complaint();
  if (failure.empty()) {
    if (changed) digest = Digest();
    if (digest.fingerprint == state()) return "";
    if (!anew && options_.episode) failure = ComplaintOf(digest.fingerprint);
  }
  if (!failure.empty()) {
    Drop();
    return failure;
  }
  links_.push_back({pass, digest.fingerprint, decisions_});
  ++built_;
  here_.emplace();
  CountInto(digest, *here_);
  if (options_.opcodes) opcodes = std::move(digest.opcodes);
  return "";
}

std::string States::Walk::Complaint() {
  Stopwatch watch(states_.timing().verifier);
  const std::string complaint = VerifyModule(*module_);
  return complaint.empty() ? "" : "its result is rejected by XLA's HLO verifier: " + complaint;
}

std::string States::Walk::ComplaintOf(const Fingerprint& state) {
  const auto [known, is_new] = program_.complaints.try_emplace(state);
  if (is_new) {
    known->second = Complaint();
    ++states_.remembered_;
  }
  return known->second;
}

ModuleDigest States::Walk::Digest() {
  Stopwatch watch(states_.timing().fingerprints);
  return DigestModule(*module_);
}

Metrics States::Walk::MetricsHere() {
  if (options_.episode && !here_) return {};
  Metrics fresh = here_.value_or(Metrics{});
  Metrics& metrics =
      options_.episode ? fresh : program_.metrics.try_emplace(state(), fresh).first->second;
  here_.reset();
  if (module_ == nullptr || built_ != links_.size()) return metrics;
  if (metrics.op_count == 0) CountInto(Digest(), metrics);
  Stopwatch watch(states_.timing().metrics);
  FillIn(*module_, options_, metrics);
  return metrics;
}

}  // namespace hone::compiler
