#include "compiler/states.h"

#include <malloc.h>

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "compiler/arrays.h"
#include "compiler/fingerprint.h"
#include "compiler/load.h"
#include "compiler/metrics.h"
#include "compiler/passes/pass_table.h"
#include "compiler/sites/dry_run.h"
#include "compiler/sites/listing.h"
#include "compiler/stopwatch.h"
#include "core/resident.h"

namespace hone::compiler {
namespace {

// mallinfo2 says 718 to 1047 on clones of four real programs; the rest is what malloc cannot reuse.
constexpr size_t kBytesPerInstruction = 1536;
// Transitions remembered, of all programs, before all are forgotten: about 100 MB.
constexpr size_t kMostTransitions = 1'000'000;
// Of one state: copies that episodes left, for the next ones that come by.
constexpr size_t kMostModulesOfAState = 16;

// The operating system is asked for the resident size once in so many calls.
constexpr int kCallsBetweenLooks = 32;

struct Outcome {
  Fingerprint state;
  std::string failure;
};

}  // namespace

struct States::Program {
  ProgramInfo info;
  std::unique_ptr<xla::HloModule> module;  // as loaded; never changed
  std::unordered_map<TransitionKey, Outcome, TransitionHash> transitions;
  std::unordered_map<Fingerprint, Metrics> metrics;
  // What has killed or hung a worker. Heeded in fresh walks too.
  std::unordered_map<TransitionKey, std::string, TransitionHash> lethal;
  // How often a walk started from or came through a state: what is asked for twice is worth a copy.
  std::unordered_map<Fingerprint, uint32_t> touches;
  std::unordered_map<Fingerprint, std::list<Held>::iterator> held;
  double clone_seconds = 0;  // of the last copy of the module
};

struct States::Held {
  Program* program;
  Fingerprint state;
  // More than one where walks that changed nothing came back: the next walk takes one of them.
  std::vector<std::unique_ptr<xla::HloModule>> modules;
  size_t bytes;  // of each
};

// A position among the states of one program. It moves by memory where it can and has a module only
// where it must.
class States::Walk {
 public:
  Walk(States& states, Program& program, std::vector<Link> links, const ApplyOptions& options)
      : states_(states), program_(program), links_(std::move(links)), options_(options) {}

  Fingerprint state() const {
    return links_.empty() ? program_.info.fingerprint : links_.back().state;
  }

  // Whether the state is known without building it.
  bool known() const { return links_.empty() || links_.back().state != kUnknown; }

  Step Take(PassId pass, uint32_t index, const DecisionsPtr& decisions = nullptr) {
    Step step;
    step.pass = pass;
    step.state = state();
    decisions_ = decisions;
    if (!options_.fresh && !options_.episode && TakeFromMemory(step)) return step;
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

  // Makes module_ the module of the current position.
  Status Build() {
    if (module_ == nullptr) Start();
    const bool replays = built_ < links_.size();
    states_.heartbeat_->step = wire::Heartbeat::kReplaying;
    double since_copy = 0;
    while (built_ < links_.size()) {
      const size_t at = built_;
      const Link link = links_[at];
      const double before = states_.timing().passes;
      bool changed = false;
      if (std::string failure = RunOnModule(link.pass, link.decisions, changed);
          !failure.empty()) {
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

  // Ends the walk; what it built is kept for the next.
  void Finish() {
    if (module_ == nullptr) return;
    if (options_.fresh || (built_ == 0 && !options_.episode)) {
      states_.Free(std::move(module_));
    } else {
      states_.Store(program_, StateOfModule(), std::move(module_));
    }
  }

  // The module is no longer that of the state.
  void Spoil() { Drop(); }

  std::unique_ptr<xla::HloModule> TakeModule() { return std::move(module_); }
  xla::HloModule& module() { return *module_; }

 private:
  // Of links that were named by their pass alone.
  static constexpr Fingerprint kUnknown = {};

  static std::string PassName(PassId pass) { return PassTable()[pass].info.name; }

  void Remember(const Fingerprint& before, const Step& step) {
    if (options_.episode) return;
    program_.transitions[{before, step.pass, HashOf(decisions_)}] = {step.state, step.failure};
    ++states_.remembered_;
  }

  // True from the second time on.
  bool Touch(const Fingerprint& state) { return ++program_.touches[state] > 1; }

  bool TakeFromMemory(Step& step) {
    const auto known = program_.transitions.find({step.state, step.pass, HashOf(decisions_)});
    if (known == program_.transitions.end()) return false;
    const Outcome& outcome = known->second;
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

  // Whether the last module of a state is to stay when a walk starts from it.
  bool Stays(const Fingerprint& state) {
    if (!options_.episode) return Touch(state);
    const auto touches = program_.touches.find(state);
    return touches != program_.touches.end() && touches->second > 1;
  }

  // Of module_, on the way to state().
  const Fingerprint& StateOfModule() const {
    return built_ == 0 ? program_.info.fingerprint : links_[built_ - 1].state;
  }

  // Takes or copies the nearest held module on the way here, or copies the program. Behind a link
  // whose state is not known nothing is.
  void Start() {
    const auto unknown = std::find_if(links_.begin(), links_.end(),
                                      [](const Link& link) { return link.state == kUnknown; });
    for (built_ = static_cast<size_t>(unknown - links_.begin()); !options_.fresh; --built_) {
      const Fingerprint& state = StateOfModule();
      const auto found = program_.held.find(state);
      if (found != program_.held.end()) {
        module_ = states_.Take(found->second, Stays(state));
        return;
      }
      if (built_ == 0) break;
    }
    built_ = 0;
    const double before = states_.timing().clones;
    module_ = states_.Copy(*program_.module);
    program_.clone_seconds = states_.timing().clones - before;
  }

  void Drop() {
    states_.Free(std::move(module_));
    built_ = 0;
  }

  // Runs one pass on module_. A failure drops the module: it may be half-changed.
  std::string RunOnModule(PassId pass, const DecisionsPtr& decisions, bool& changed) {
    ++states_.heartbeat_->ticks;
    ++states_.timing().passes_run;
    Stopwatch watch(states_.timing().passes);
    const PassEntry& entry = PassTable()[pass];
    if (const Decisions* decided = decisions != nullptr ? decisions.get()
                                   : entry.decisions   ? &*entry.decisions
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

  std::string RunWithDecisions(const PassEntry& entry, const Decisions& decisions) {
    // Of a pass that turned out not to be separable the one site is chosen, or it is not.
    const RewriteSite whole = WholeSite(entry, StateOfModule(), 0, 0, 0);
    for (const SiteChoice& choice : decisions.choices) {
      if (choice.key == whole.place || choice.key == whole.content) return choice.accept ? RunPlainly(entry) : "";
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

  std::string RunPlainly(const PassEntry& entry) {
    const absl::Status status = entry.make()->Run(module_.get()).status();
    if (module_->has_schedule() && !module_->schedule().Update().ok()) module_->clear_schedule();
    module_->Cleanup();
    return status.ok() ? "" : status.ToString();
  }

  // Runs one pass here and moves on. Returns the failure; then the position has not moved.
  std::string Run(PassId pass, OpcodeCounts& opcodes) {
    bool changed = false;
    std::string failure = RunOnModule(pass, decisions_, changed);
    if (failure.empty() && module_ == nullptr) return "";
    if (failure.empty() && !changed && !options_.verify) return "";
    // Some of a pass's rewrites are not what XLA's authors have tested.
    const bool decided = decisions_ != nullptr || PassTable()[pass].decisions;
    if (failure.empty() && (options_.verify || decided)) {
      Stopwatch watch(states_.timing().verifier);
      if (failure = VerifyModule(*module_); !failure.empty()) {
        failure = "its result is rejected by XLA's HLO verifier: " + failure;
      }
    }
    if (!failure.empty()) {
      Drop();
      return failure;
    }
    ModuleDigest digest = Digest();
    if (digest.fingerprint == state()) return "";
    links_.push_back({pass, digest.fingerprint, decisions_});
    ++built_;
    here_.emplace();
    CountInto(digest, *here_);
    if (options_.opcodes) opcodes = std::move(digest.opcodes);
    return "";
  }

  ModuleDigest Digest() {
    Stopwatch watch(states_.timing().fingerprints);
    return DigestModule(*module_);
  }

  // Of the state here, as far as asked for. An episode has them of what it changed alone: the rest
  // is known to whoever leads it.
  Metrics MetricsHere() {
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

  States& states_;
  Program& program_;
  std::vector<Link> links_;
  const ApplyOptions options_;
  std::unique_ptr<xla::HloModule> module_;
  DecisionsPtr decisions_;       // about the pass at hand
  size_t built_ = 0;             // how many of links_ module_ embodies
  std::optional<Metrics> here_;  // what the last digest counted, until it is asked for
};

States::States(const StatesOptions& options, wire::Heartbeat* heartbeat)
    : byte_limit_(options.cache_bytes),
      stand_in_constants_(options.stand_in_constants),
      heartbeat_(heartbeat) {
  heartbeat->bare_bytes = ResidentBytes();
  if (options.headroom_bytes > 0) {
    trim_above_ = heartbeat->bare_bytes + options.headroom_bytes / 4 * 3;
  }
}

States::~States() = default;

StatusOr<ProgramInfo> States::Load(ProgramId id, std::string_view data) {
  StatusOr<LoadedModule> loaded = LoadModule(data);
  if (!loaded) return tl::unexpected(loaded.error());
  auto program = std::make_unique<Program>();
  program->module = std::move(loaded->module);
  const ModuleDigest digest = DigestModule(*program->module);
  program->info.fingerprint = digest.fingerprint;
  program->info.id = id;
  program->info.name = program->module->name();
  program->info.format = loaded->format;
  program->info.elided_constants = loaded->elided_constants > 0 && !stand_in_constants_;
  program->info.stand_in_constants = stand_in_constants_ ? loaded->elided_constants : 0;
  program->info.opcodes = digest.opcodes;
  Metrics& metrics = program->info.metrics;
  CountInto(digest, metrics);
  AnalyseCost(*program->module, metrics);
  CountKernels(*program->module, metrics);
  program->metrics[digest.fingerprint] = metrics;
  if (programs_.count(id) != 0) (void)Unload(id);
  return (programs_[id] = std::move(program))->info;
}

Status States::Unload(ProgramId id) {
  const auto found = programs_.find(id);
  if (found == programs_.end()) {
    return MakeError(ErrorCode::kInvalidInput, "no program " + std::to_string(id) + " is loaded");
  }
  for (auto held = held_.begin(); held != held_.end();) {
    const auto next = std::next(held);
    if (held->program == found->second.get()) Evict(held);
    held = next;
  }
  programs_.erase(found);
  return {};
}

StatusOr<Applied> States::Apply(const StateName& from, const std::vector<PassId>& passes,
                                const std::vector<KnownFailure>& avoid,
                                const ApplyOptions& options,
                                const std::vector<DecisionsPtr>& decisions) {
  for (PassId pass : passes) {
    if (pass >= PassTable().size()) {
      return MakeError(ErrorCode::kInvalidInput, "there is no pass " + std::to_string(pass));
    }
  }
  StatusOr<Program*> program = FindProgram(from);
  if (!program) return tl::unexpected(program.error());
  KeepWithinMemory();
  for (const KnownFailure& known : avoid) {
    (*program)->lethal[{known.state, known.pass, known.decisions}] = known.failure;
  }
  Walk walk(*this, **program, from.links, options);
  if (options.fresh || !walk.known()) {
    if (Status built = walk.Build(); !built) return tl::unexpected(built.error());
  }
  Applied applied;
  applied.start = walk.state();
  applied.steps.reserve(passes.size());
  for (size_t i = 0; i < passes.size(); ++i) {
    applied.steps.push_back(walk.Take(passes[i], static_cast<uint32_t>(i),
                                      i < decisions.size() ? decisions[i] : nullptr));
  }
  walk.Finish();
  return applied;
}

Status States::Hold(const StateName& state) {
  StatusOr<Program*> program = FindProgram(state);
  if (!program) return tl::unexpected(program.error());
  if (!state.links.empty()) (*program)->touches[state.links.back().state] += 2;
  Walk walk(*this, **program, state.links, ApplyOptions{});
  Status built = walk.Build();
  if (built) walk.Finish();
  return built;
}

StatusOr<ProgramArrays> States::Arrays(const StateName& state) {
  StatusOr<Program*> program = FindProgram(state);
  if (!program) return tl::unexpected(program.error());
  ApplyOptions options;
  options.episode = true;
  Walk walk(*this, **program, state.links, options);
  if (Status built = walk.Build(); !built) return tl::unexpected(built.error());
  Stopwatch watch(timing().metrics);
  ProgramArrays arrays = ArraysOf(walk.module());
  walk.Finish();
  return arrays;
}

StatusOr<Rewrites> States::ListRewrites(const StateName& state, PassId pass,
                                        const RewritesOptions& options) {
  if (pass >= PassTable().size()) {
    return MakeError(ErrorCode::kInvalidInput, "there is no pass " + std::to_string(pass));
  }
  StatusOr<Program*> program = FindProgram(state);
  if (!program) return tl::unexpected(program.error());
  KeepWithinMemory();
  const PassEntry& entry = PassTable()[pass];
  ApplyOptions episode;
  episode.episode = true;
  Walk walk(*this, **program, state.links, episode);
  if (Status built = walk.Build(); !built) return tl::unexpected(built.error());
  const Fingerprint here = walk.state();
  Rewrites rewrites;
  double pass_seconds = 0;
  if (options.time_pass) {
    const std::unique_ptr<xla::HloModule> copy = Copy(walk.module());
    Stopwatch watch(pass_seconds);
    (void)entry.make()->Run(copy.get());
  }
  heartbeat_->step = 0;
  ++heartbeat_->ticks;
  bool intact = true;
  if (!options.whole) rewrites = ListSites(entry, &walk.module(), here, options, intact);
  if (intact) {
    walk.Finish();
  } else {
    walk.Spoil();
  }
  if (options.whole || !rewrites.separable) {
    StatusOr<std::unique_ptr<xla::HloModule>> module = Rebuild(state);
    if (!module) return tl::unexpected(module.error());
    StatusOr<Rewrites> whole = ListWhole(entry, module->get());
    if (!whole) return whole;
    rewrites = *std::move(whole);
  }
  rewrites.state = here;
  rewrites.pass_seconds = pass_seconds;
  return rewrites;
}

StatusOr<std::unique_ptr<xla::HloModule>> States::Rebuild(const StateName& state) {
  StatusOr<Program*> program = FindProgram(state);
  if (!program) return tl::unexpected(program.error());
  ApplyOptions options;
  options.fresh = true;
  Walk walk(*this, **program, state.links, options);
  if (Status built = walk.Build(); !built) return tl::unexpected(built.error());
  return walk.TakeModule();
}

const xla::HloModule* States::Find(ProgramId program) const {
  const auto found = programs_.find(program);
  return found == programs_.end() ? nullptr : found->second->module.get();
}

bool States::HasElidedConstants(ProgramId program) const {
  const auto found = programs_.find(program);
  return found != programs_.end() && found->second->info.elided_constants;
}

StatusOr<States::Program*> States::FindProgram(const StateName& state) {
  const auto found = programs_.find(state.program);
  if (found == programs_.end()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "no program " + std::to_string(state.program) + " is loaded");
  }
  for (const Link& link : state.links) {
    if (link.pass >= PassTable().size()) {
      return MakeError(ErrorCode::kInvalidInput, "there is no pass " + std::to_string(link.pass));
    }
  }
  return found->second.get();
}

void States::Store(Program& program, const Fingerprint& state,
                   std::unique_ptr<xla::HloModule> module) {
  const auto known = program.held.find(state);
  if (known != program.held.end()) {
    const auto held = known->second;
    if (held->modules.size() >= kMostModulesOfAState) return Free(std::move(module));
    held_bytes_ += held->bytes;
    held->modules.push_back(std::move(module));
    held_.splice(held_.begin(), held_, held);
  } else {
    const size_t bytes = static_cast<size_t>(module->instruction_count()) * kBytesPerInstruction;
    Held& held = held_.emplace_front(Held{&program, state, {}, bytes});
    held.modules.push_back(std::move(module));
    program.held[state] = held_.begin();
    held_bytes_ += bytes;
  }
  while (held_bytes_ > byte_limit_ && !held_.empty()) Evict(std::prev(held_.end()));
}

std::unique_ptr<xla::HloModule> States::Take(std::list<Held>::iterator held, bool last_stays) {
  if (last_stays && held->modules.size() == 1) {
    held_.splice(held_.begin(), held_, held);
    return Copy(*held->modules.front());
  }
  std::unique_ptr<xla::HloModule> module = std::move(held->modules.back());
  held->modules.pop_back();
  held_bytes_ -= held->bytes;
  if (held->modules.empty()) Evict(held);
  return module;
}

void States::Leave(ProgramId id, const Fingerprint& state) {
  const auto program = programs_.find(id);
  if (program == programs_.end()) return;
  const auto held = program->second->held.find(state);
  const auto touches = program->second->touches.find(state);
  if (held == program->second->held.end() || touches != program->second->touches.end()) return;
  Free(Take(held->second, /*last_stays=*/false));
}

void States::Evict(std::list<Held>::iterator victim) {
  held_bytes_ -= victim->modules.size() * victim->bytes;
  victim->program->held.erase(victim->state);
  for (auto& module : victim->modules) Free(std::move(module));
  held_.erase(victim);
}

void States::KeepWithinMemory() {
  if (remembered_ > kMostTransitions) Forget();
  if (trim_above_ == 0 || ++calls_ % kCallsBetweenLooks != 0) return;
  if (ResidentBytes() < trim_above_) return;
  for (const size_t half = held_bytes_ / 2; held_bytes_ > half;) Evict(std::prev(held_.end()));
  Forget();
  malloc_trim(0);
}

void States::Forget() {
  for (auto& [id, program] : programs_) {
    program->transitions.clear();
    program->metrics.clear();
    program->touches.clear();
  }
  remembered_ = 0;
}

std::unique_ptr<xla::HloModule> States::Copy(const xla::HloModule& module) {
  ++heartbeat_->ticks;
  ++timing().clones_made;
  Stopwatch watch(timing().clones);
  return module.Clone(/*suffix=*/"");
}

void States::Free(std::unique_ptr<xla::HloModule> module) {
  Stopwatch watch(timing().clones);
  module.reset();
}

}  // namespace hone::compiler
